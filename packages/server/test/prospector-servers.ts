import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createSigner, generateSecretKey, type JsonObject } from '@tallystick/core';
import type { TestCertificate } from './certificate.ts';
import type { TestService } from './service.ts';

/** An answer on its way out. */
interface Outgoing {
  status: number;
  readonly headers: Map<string, string>;
  body: string;
}

/** What one request of the surface was. */
interface Incoming {
  /** `POST /mcp` */
  readonly route: string;
  readonly body: string;
}

/** Breaks the surface in one way: it changes answers, or (returning `taken`) answers by itself. */
export type Fault = (answer: Outgoing, request: Incoming, response: ServerResponse) => void | 'taken';

/** A surface: the real service behind a front that terminates TLS and asks to be paid for one path. */
export interface SurfaceServer {
  readonly origin: string;
  /** Requests that came, as routes. */
  readonly seen: string[];
  close(): void;
}

/** The x402 requirements of the front's paid path, version 2. */
function requirements(origin: string): JsonObject {
  return {
    x402Version: 2,
    error: 'PAYMENT-SIGNATURE header is required',
    resource: { url: `${origin}/v1/paid`, description: 'A paid call', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '1000',
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
        maxTimeoutSeconds: 60,
        extra: { name: 'USDC', version: '2' },
      },
    ],
  };
}

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** Serves the service over TLS on a loopback port. */
export async function serveSurface(
  service: TestService,
  { certificate, fault = () => {} }: { certificate: TestCertificate | null; fault?: Fault },
): Promise<SurfaceServer> {
  const seen: string[] = [];
  let origin = '';
  const front = async (request: Incoming, headers: Record<string, string>): Promise<Outgoing> => {
    if (request.route === 'POST /v1/paid') {
      const asked = requirements(origin);
      return outgoing(402, { 'payment-required': encoded(asked), 'content-type': 'application/json' }, '{}');
    }
    const [method = '', path = ''] = request.route.split(' ');
    const body = method === 'POST' ? { body: request.body } : {};
    const { host: _, 'content-length': __, ...passed } = headers;
    const reply = await service.request(path, { method, headers: { ...passed, host: '127.0.0.1' }, ...body });
    const answer = outgoing(reply.status, Object.fromEntries(reply.headers), reply.text);
    if (request.route === 'GET /v1/compute') {
      const descriptor = reply.json as { endpoints: JsonObject };
      const endpoints = { ...descriptor.endpoints, paid: 'POST /v1/paid' };
      answer.body = JSON.stringify({ ...descriptor, endpoints });
    }
    return answer;
  };
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const route = `${incoming.method} ${incoming.url}`;
    seen.push(route);
    const request = { route, body: await text(incoming) };
    const answer = await front(request, incoming.headers as Record<string, string>);
    if (certificate !== null) answer.headers.set('strict-transport-security', 'max-age=31536000');
    if (fault(answer, request, response) === 'taken') return;
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answer.body);
  };
  const listener: RequestListener = (incoming, response) => void serve(incoming, response);
  const server = certificate === null ? createServer(listener) : createTlsServer(certificate, listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', () => resolve());
  await promise;
  const { port } = server.address() as AddressInfo;
  origin = `${certificate === null ? 'http' : 'https'}://127.0.0.1:${port}`;
  return {
    origin,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function outgoing(status: number, headers: Record<string, string>, body: string): Outgoing {
  return { status, headers: new Map(Object.entries(headers)), body };
}

/** Changes the JSON of the answers on one route. */
export function withJson(route: string, change: (json: JsonObject) => JsonObject): Fault {
  return (answer, request) => {
    if (request.route === route && answer.status === 200)
      answer.body = JSON.stringify(change(JSON.parse(answer.body) as JsonObject));
  };
}

/** Answers one route with 404 as the service does where there is nothing. */
export function without(route: string): Fault {
  const body = { title: 'There is nothing at this path', status: 404, code: 'not_found' };
  return (answer, request) => {
    if (request.route !== route) return;
    answer.status = 404;
    answer.body = JSON.stringify(body);
    answer.headers.set('content-type', 'application/problem+json');
  };
}

/** Sets or, with null, removes a header of every answer, or of those on some routes. */
export function withHeader(name: string, value: string | null, routes: RegExp = /./): Fault {
  return (answer, { route }) => {
    if (!routes.test(route)) return;
    if (value === null) answer.headers.delete(name);
    else answer.headers.set(name, value);
  };
}

export const newSigner = () => createSigner(generateSecretKey());
