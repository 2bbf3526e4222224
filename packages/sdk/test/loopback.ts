import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEachFile } from '../../../scripts/end-of-file.ts';

/** A request as it was received. */
interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Behaviour = (response: ServerResponse) => void;

export interface Loopback {
  readonly url: string;
  readonly arrived: Arrived[];
}

const closings: (() => void)[] = [];
afterEachFile(() => {
  for (const close of closings.splice(0)) close();
});

/** A server on a free port that answers as soon as a body begins, and then reads the rest of it. */
export async function answeringEarly(behaviour: Behaviour): Promise<string> {
  return listening((request, response) => {
    request.once('data', () => behaviour(response)).resume();
  });
}

/** A server on a free port that counts the bytes of the bodies without keeping them, and answers at their end. */
export async function counting(behaviour: Behaviour): Promise<{ url: string; bytes: () => number }> {
  let bytes = 0;
  const url = await listening((request, response) => {
    request.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
    });
    request.on('end', () => behaviour(response));
  });
  return { url, bytes: () => bytes };
}

async function listening(meet: RequestListener): Promise<string> {
  const server = createServer(meet);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server on a free port that treats the nth request with the nth behaviour, and all later ones with the last. */
export async function loopback(...behaviours: readonly Behaviour[]): Promise<Loopback> {
  const arrived: Arrived[] = [];
  const meet = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request;
    const body = await text(request).catch(() => '(cut short)');
    arrived.push({ method, path, headers, body });
    behaviours[Math.min(arrived.length, behaviours.length) - 1]?.(response);
  };
  return { url: await listening((request, response) => void meet(request, response)), arrived };
}

export const answer =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const hangUp: Behaviour = (response) => response.destroy();

export const keepSilent: Behaviour = () => {};

/** Sends headers and the first byte, and then nothing more. */
export const stallInTheBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{');
};
