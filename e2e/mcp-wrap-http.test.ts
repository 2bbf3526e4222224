import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  connectStdio,
  judge,
  progressOf,
  receiptIn,
  startProgram,
  stopPrograms,
  textIn,
} from './mcp-wrapped.ts';
import { TALLY, temporaryFolder } from './process.ts';

const FIXTURE = fileURLToPath(new URL('mcp-conformance-server.ts', import.meta.url));

let file: string;
let env: Record<string, string>;
const servers: Server[] = [];
beforeEach(() => {
  const folder = temporaryFolder();
  file = join(folder, 's.jsonl');
  env = { TALLY_HOME: folder, TOKEN: 'Bearer secret' };
});
afterEach(async () => {
  await stopPrograms();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const start = (...args: readonly string[]): Promise<string> => startProgram(args, env);

const wrap = (server: string, ...options: readonly string[]): Promise<string> =>
  start(TALLY, 'mcp', 'wrap', '--session', file, '--server', server, '--listen', '0', ...options);

/** A server that answers as it is told. */
async function upstream(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => answer(incoming, response, body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a request whose headers are all the caller's own. */
function ask(url: string, { method = 'POST', headers = {}, body }: Sent) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; text: string }>(
    (resolve, reject) => {
      const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const sent = request(url, { method, headers: { ...json, ...headers } }, (response) => {
        void text(response).then((said) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: said }),
        );
      });
      sent.once('error', reject).end(body && Buffer.from(body));
    },
  );
}

const call = (id: number | string, name = 'x') =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } });
const outcomes = async () =>
  (await judge(file)).entries.flatMap((entry) => (entry.call.kind === 'tool' ? entry.call.outcome : []));

describe('tally mcp wrap --server --listen', () => {
  it('passes headers, statuses and bodies, and changes the answer of a call alone', async () => {
    const seen: IncomingMessage[] = [];
    const bare = await upstream((incoming, response, body) => {
      seen.push(incoming);
      if (incoming.headers.authorization === undefined) {
        response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="x"' }).end('who are you');
      } else if (incoming.url?.startsWith('/.well-known/')) response.end('{"resource":1}');
      else if (body.includes('tools/call')) {
        response.writeHead(200, { 'content-type': 'application/json', 'x-own': 'a' });
        response.end('{"jsonrpc":"2.0", "id":1,"result": {"content":[]}}');
      } else
        response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(`{ "id" : 2 }\n`);
    });
    const url = await wrap(bare);
    const headers = { authorization: 'Bearer x', 'mcp-session-id': 's', 'x-more': 'é' };
    expect(await ask(url, { body: call(0) })).toMatchObject({
      status: 401,
      text: 'who are you',
      headers: { 'www-authenticate': 'Bearer resource_metadata="x"' },
    });
    const called = await ask(url, { body: call(1), headers });
    expect(called).toMatchObject({ status: 200, headers: { 'x-own': 'a' } });
    const { result } = JSON.parse(called.text);
    expect(receiptIn(result).call).toMatchObject({ outcome: 'completed', server: { transport: 'http' } });
    expect((await ask(url, { body: '{"id":2,"method":"ping"}', headers })).text).toBe('{ "id" : 2 }\n');
    expect((await ask(new URL('/.well-known/x', url).href, { method: 'GET', headers })).text).toBe(
      '{"resource":1}',
    );
    expect((await ask(new URL('/else', url).href, { body: call(3), headers })).status).toBe(404);
    expect(seen[1]?.headers).toMatchObject({ ...headers, host: new URL(bare).host });
    expect(seen).toHaveLength(4);
    await stopPrograms();
    expect(await outcomes()).toEqual(['error', 'completed']);
  });

  it('goes on with a stream by Last-Event-ID, where the answer of an earlier call may come', async () => {
    const bare = await upstream((incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (incoming.method === 'POST') response.end('id: 7\r\ndata:\r\n\r\n: a comment\n\n');
      else {
        response.write(
          `id: 8\nevent: message\ndata: {"jsonrpc":"2.0","id":5,\ndata: "result":{}}\nretry: 9\n\n`,
        );
        response.end(`data: {"after":"${String(incoming.headers['last-event-id'])}"}\n\nda`);
      }
    });
    const url = await wrap(bare);
    const headers = { 'mcp-session-id': 's' };
    const first = await ask(url, { body: call(5), headers });
    expect(first.text).toBe('id: 7\r\ndata:\r\n\r\n: a comment\n\n');
    const rest = await ask(url, { method: 'GET', headers: { ...headers, 'last-event-id': '7' } });
    const [event = '', after] = rest.text.split('\n\n');
    expect(event).toMatch(
      /^id: 8\nevent: message\ndata: \{"jsonrpc":"2.0","id":5,\ndata: "result":\{"_meta":.*\}\}\}\nretry: 9$/,
    );
    expect(after).toBe('data: {"after":"7"}');
    expect(rest.text.endsWith('\n\nda')).toBe(true);
    await stopPrograms();
    expect(await outcomes()).toEqual(['completed']);
  });

  it('records what is not answered: cancelled, lost with its session, or unknown', async () => {
    const waiting: ServerResponse[] = [];
    const bare = await upstream((incoming, response) => {
      if (incoming.method === 'DELETE') response.writeHead(204).end();
      else waiting.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      response.flushHeaders();
    });
    const url = await wrap(bare);
    // Without a session, whoever leaves has cancelled.
    const left = new AbortController();
    await fetch(url, { method: 'POST', body: call(1), signal: left.signal });
    left.abort();
    await fetch(url, { method: 'POST', body: call(2), headers: { 'mcp-session-id': 's' } });
    await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': 's' } });
    await fetch(url, { method: 'POST', body: call(3), headers: { 'mcp-session-id': 't' } });
    await stopPrograms();
    expect((await outcomes()).toSorted()).toEqual(['cancelled', 'unknown', 'unknown']);
  });

  it('refuses a page that reaches it by a name of its own', async () => {
    const url = await wrap(await upstream((_, response) => response.end('{}')));
    const status = async (headers: Record<string, string>) =>
      (await ask(url, { body: '{"method":"x"}', headers })).status;
    expect(await status({ host: 'evil.example' })).toBe(403);
    expect(await status({ host: 'evil.example:80', origin: 'http://localhost' })).toBe(403);
    expect(await status({ origin: 'http://evil.example' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ host: 'LOCALHOST:1', origin: 'http://127.0.0.1:9' })).toBe(200);
    expect(await status({ 'content-encoding': 'gzip' })).toBe(415);
  });

  it('refuses by policy, and asks the user on the stream of the call', async () => {
    const url = await wrap(
      await start(FIXTURE, 'http'),
      '--deny',
      'test_image_content',
      '--ask',
      'test_simple_text',
    );
    const client = new Client(
      { name: 't', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'legacy' } },
    );
    const answers = ['accept', 'decline'] as const;
    let asked = 0;
    client.setRequestHandler('elicitation/create', () => ({
      action: answers[asked++] ?? ('cancel' as const),
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect((await client.callTool({ name: 'test_image_content' })).isError).toBe(true);
    expect(textIn(await client.callTool({ name: 'test_simple_text' }))).toContain('simple text');
    expect(textIn(await client.callTool({ name: 'test_simple_text' }))).toContain(
      'the user did not allow it',
    );
    await client.close();
    await stopPrograms();
    expect(await outcomes()).toEqual(['denied', 'completed', 'denied']);
  });

  it('answers 502 where nothing answers behind it', async () => {
    const url = await wrap('http://127.0.0.1:1/mcp');
    expect((await ask(url, { body: call(1) })).status).toBe(502);
    await stopPrograms();
    expect(await outcomes()).toEqual(['unknown']);
  });
});

describe('tally mcp wrap --server over stdio', () => {
  const connect = (server: string, ...options: readonly string[]) =>
    connectStdio(['--session', file, '--server', server, ...options], [], env, {
      capabilities: { sampling: {}, elicitation: {} },
    });

  it('carries calls, progress and sampling', async () => {
    const { client } = await connect(await start(FIXTURE, 'http'));
    client.setRequestHandler('sampling/createMessage', () => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'sampled' },
    }));
    const steps = progressOf(client);
    await client.callTool({ name: 'test_tool_with_progress' }, { onprogress: () => {} });
    expect(steps).toEqual([0, 50, 100]);
    const result = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'p' } });
    expect(textIn(result)).toContain('sampled');
    expect(receiptIn(result).call.outcome).toBe('completed');
    await client.close();
    expect(await judge(file)).toMatchObject({ valid: true, state: 'closed', count: 4 });
  });

  it('begins another session where the server has ended its own', async () => {
    const open = new Set<string>();
    const seen: string[] = [];
    const bare = await upstream((incoming, response, body) => {
      const session = String(incoming.headers['mcp-session-id'] ?? 'none');
      if (incoming.method !== 'POST') return void response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body);
      if (method === 'initialize') {
        const begun = `s${seen.filter((line) => line.endsWith('initialize')).length}`;
        seen.push(`${session} initialize`);
        open.add(begun);
        const serverInfo = { name: 's', version: '1' };
        const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
        response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': begun });
        return void response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      }
      if (!open.has(session)) return void response.writeHead(404).end();
      seen.push(`${session} ${params?.name ?? method}`);
      if (id === undefined) return void response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      const content = [{ type: 'text', text: params.name }];
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }));
    });
    const { client } = await connect(bare);
    expect(textIn(await client.callTool({ name: 'a' }))).toBe('a');
    open.clear();
    const both = ['b', 'c'].map((name) => client.callTool({ name }));
    expect((await Promise.all(both)).map(textIn)).toEqual(['b', 'c']);
    await client.close();
    expect(seen.slice(0, 3)).toEqual(['none initialize', 's0 notifications/initialized', 's0 a']);
    expect(seen.slice(3, 5)).toEqual(['none initialize', 's1 notifications/initialized']);
    expect(seen.slice(5).toSorted()).toEqual(['s1 b', 's1 c']);
    expect(await outcomes()).toEqual(['completed', 'completed', 'completed']);
  });

  it.each([
    ['keeps the stream of the call open', { 'content-type': 'text/event-stream' }],
    ['never begins to answer', null],
  ])('waits no longer for a call that was cancelled, where the server %s', async (_, headers) => {
    const { promise: called, resolve: reached } = Promise.withResolvers<void>();
    const { promise: dropped, resolve: drop } = Promise.withResolvers<void>();
    const bare = await upstream((incoming, response, body) => {
      if (incoming.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(body);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'tools/call') {
        response.once('close', drop);
        // The protocol asks a server not to answer what is cancelled.
        if (headers !== null) response.writeHead(200, headers).flushHeaders();
        return reached();
      }
      const serverInfo = { name: 's', version: '1' };
      const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const { client } = await connect(bare);
    const errors: Error[] = [];
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client is no event target
    client.onerror = (error) => void errors.push(error);
    const stop = new AbortController();
    const cancelled = client.callTool({ name: 'a' }, { signal: stop.signal });
    await called;
    stop.abort('enough');
    await expect(cancelled).rejects.toThrow('enough');
    await dropped;
    await client.close();
    expect(errors).toEqual([]);
    expect(await outcomes()).toEqual(['cancelled']);
  });

  it('sends headers from the environment, goes on with a stream, and says what went wrong', async () => {
    let session = 0;
    const bare = await upstream((incoming, response, body) => {
      const { authorization, 'last-event-id': last } = incoming.headers;
      if (authorization !== 'Bearer secret') return void response.writeHead(401).end();
      if (incoming.method === 'DELETE') return void response.writeHead(200).end();
      if (incoming.method === 'GET' && last === undefined) return void response.writeHead(405).end();
      const events = { 'content-type': 'text/event-stream', 'mcp-session-id': `s${++session}` };
      if (incoming.method === 'GET') {
        return void response
          .writeHead(200, events)
          .end(
            `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text",\ndata: "text":"after ${String(last)}"}]}}\n\n`,
          );
      }
      const { id, method } = JSON.parse(body);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'initialize') {
        const serverInfo = { name: 's', version: '1' };
        const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
        return void response
          .writeHead(200, events)
          .end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      }
      if (id === 1) return void response.writeHead(200, events).end('id: e1\nretry: 1\ndata:\n\n');
      return void response.writeHead(503).end('later');
    });
    const { client } = await connect(bare, '--header-from', 'Authorization=TOKEN');
    expect(textIn(await client.callTool({ name: 'a' }))).toBe('after e1');
    await expect(client.callTool({ name: 'b' })).rejects.toThrow('status 503');
    await client.close();
    expect(await outcomes()).toEqual(['completed', 'error']);
  });
});
