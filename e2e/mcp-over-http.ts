// Serves over Streamable HTTP, on a free port that is printed, whatever speaks stdio: `mcp-over-http.ts COMMAND ARGUMENTS`.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { type JSONRPCMessage, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** Serves sessions, each with a transport of its own. */
export async function serveSessions(
  connect: (transport: WebStandardStreamableHTTPServerTransport) => Promise<void>,
): Promise<void> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const serve = async (request: Request): Promise<Response> => {
    const known = request.headers.get('mcp-session-id');
    const open = known === null ? undefined : sessions.get(known);
    if (open !== undefined) return open.handleRequest(request);
    if (known !== null) return new Response(null, { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      enableDnsRebindingProtection: false,
    });
    await connect(transport);
    return transport.handleRequest(request);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const host = request.headers.host?.replace(/:\d+$/, '') ?? '';
    const origin = request.headers.origin;
    const isHere = [host, ...(origin === undefined ? [] : [new URL(origin).hostname])].every((name) =>
      ['localhost', '127.0.0.1'].includes(name),
    );
    if (!isHere) return void response.writeHead(403).end();
    const body =
      request.method === 'POST'
        ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' as const }
        : {};
    const headers = new Headers(request.headersDistinct as unknown as Record<string, string>);
    const served = await serve(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers,
        ...body,
      }),
    );
    response.writeHead(served.status, Object.fromEntries(served.headers));
    response.flushHeaders();
    if (served.body !== null) for await (const chunk of served.body) response.write(chunk);
    response.end();
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as { port: number }).port}/mcp\n`);
  });
}

/** Starts a process for a session, and carries the messages of both. */
async function connectProcess(
  [program = '', ...args]: readonly string[],
  transport: WebStandardStreamableHTTPServerTransport,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let newest: string | number | undefined;
  const onmessage = (message: JSONRPCMessage) => {
    if ('method' in message && 'id' in message) newest = message.id;
    child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  Object.assign(transport, { onmessage, onclose: () => void child.stdin.end() });
  await transport.start();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as JSONRPCMessage;
    // Over stdio nothing says which call a message of the server belongs to.
    const options = 'method' in message && newest !== undefined ? { relatedRequestId: newest } : {};
    void transport.send(message, options).catch(() => {});
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await serveSessions((transport) => connectProcess(process.argv.slice(2), transport));
}
