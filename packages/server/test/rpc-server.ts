import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface RpcRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RpcServer {
  readonly url: string;
  /** The methods that were asked, in order. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A JSON-RPC endpoint on a free loopback port that answers as the test says. */
export async function startRpcServer(
  answer: (request: RpcRequest, response: ServerResponse) => Promise<void> | void,
): Promise<RpcServer> {
  const asked: string[] = [];
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = (await json(incoming)) as RpcRequest;
    asked.push(request.method);
    await answer(request, response);
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Passes every call on to `target`; what `tamper` answers false to is done there, but its answer is lost. */
export function startRpcProxy(target: string, tamper: (method: string) => boolean): Promise<RpcServer> {
  return startRpcServer(async (request, response) => {
    const answer = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    const body = await answer.text();
    if (tamper(request.method)) response.setHeader('content-type', 'application/json').end(body);
    else response.destroy();
  });
}
