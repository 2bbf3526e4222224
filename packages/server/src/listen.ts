import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';

type Fetch = (request: Request, bindings: HttpBindings) => Response | Promise<Response>;

/** What answers requests, and what is closed after the last one. */
export interface Served {
  readonly fetch: Fetch;
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Opens the service once the address is known; requests that come earlier wait for it. */
  readonly open: (address: AddressInfo) => Promise<Served>;
  /** How long requests in flight may take after the first signal, in milliseconds. */
  readonly drainMs?: number;
}

export interface Listening {
  readonly address: AddressInfo;
  /** Resolves once the server and the service are closed; rejects with what closing threw. */
  readonly closed: Promise<void>;
  /** Stops accepting, lets requests in flight finish, then closes the service. Idempotent. */
  readonly close: () => Promise<void>;
}

/** Why the server cannot listen, in one line for a human. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * Listens until SIGTERM or SIGINT, then drains; a second signal ends the process at once.
 *
 * @throws ListenError when the address cannot be had; or what `open` threw
 */
export async function listen({ host, port, open, drainMs = 10_000 }: ListenOptions): Promise<Listening> {
  const opening = Promise.withResolvers<Served>();
  let fetch: Fetch = async (request, bindings) => (await opening.promise).fetch(request, bindings);
  const server = createHttpServer((request, bindings) => fetch(request, bindings));
  const address = await bind(server, host, port);
  const served = await open(address).catch(async (error: unknown) => {
    opening.promise.catch(() => {});
    opening.reject(error);
    server.close();
    server.closeAllConnections();
    throw error;
  });
  fetch = served.fetch;
  opening.resolve(served);

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= drain(server, drainMs).then(() => served.close());
    return closing;
  };
  return { address, close, closed: closeOnSignal(server, close) };
}

function createHttpServer(fetch: Fetch): Server {
  return createAdaptorServer({
    fetch: (request, bindings) => fetch(request, bindings as HttpBindings),
    serverOptions: {
      maxHeaderSize: 16_384,
      headersTimeout: 15_000,
      // A streamed body may hold a gigabyte: this lets it come at 5 Mbit/s.
      requestTimeout: 1_800_000,
      // Longer than the 60 s after which common load balancers drop an idle connection, so that the
      // balancer, not this end, is the one to close it.
      keepAliveTimeout: 65_000,
    },
  }) as Server;
}

function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const onError = (error: NodeJS.ErrnoException): void =>
    reject(new ListenError(explain(error, host, port), { cause: error }));
  server.once('error', onError);
  server.listen(port, host, () => {
    server.off('error', onError);
    resolve(server.address() as AddressInfo);
  });
  return promise;
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another process. Stop that one, or choose another with PORT.`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose one above 1023 with PORT.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose another with HOST.`;
    default:
      return `Cannot listen on ${host} port ${port}: ${error.message}.`;
  }
}

/** Connections that stay open for a next request are closed as they fall idle; after `drainMs`, all are. */
async function drain(server: Server, drainMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), drainMs);
  await promise;
  clearInterval(idle);
  clearTimeout(late);
}

async function closeOnSignal(server: Server, close: () => Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) process.exit(1);
    close().catch(reject);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  server.once('close', () => {
    close().then(resolve, reject);
  });
  try {
    await promise;
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}
