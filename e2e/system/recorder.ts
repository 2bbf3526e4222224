import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** One call as it went over the wire. */
interface RecordedCall {
  readonly path: string;
  readonly status: number;
  readonly receiptId: string | null;
  readonly request: Uint8Array;
  readonly response: Uint8Array;
}

export interface Recorder {
  readonly url: string;
  readonly calls: RecordedCall[];
  close(): Promise<void>;
}

/** A proxy in front of a service that keeps the bytes of each call, and changes none. */
export async function recordCalls(service: string): Promise<Recorder> {
  const calls: RecordedCall[] = [];
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = incoming;
    const request = await buffer(incoming);
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    const answer = await fetch(new URL(url, service), {
      method,
      headers: { ...(headers as Record<string, string>), 'accept-encoding': 'identity' },
      ...(request.length > 0 && { body: request }),
    });
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body ?? []) {
      pieces.push(piece);
      outgoing.write(piece);
    }
    outgoing.end();
    const receiptId = answer.headers.get('x-receipt-id');
    calls.push({ path: url, status: answer.status, receiptId, request, response: Buffer.concat(pieces) });
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
