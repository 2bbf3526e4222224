import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type App, Front } from '../http/front.ts';

/** What answers requests, and what is closed after the last one. */
export interface Served extends App {
  /**
   * Ends the answers that still run when draining has taken too long: each tells its caller so. Resolves, within seconds,
   * once what was delivered is billed. The connections are closed soon after.
   */
  cut?(): Promise<void>;
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Opens the service once the address is known; until then `/healthz` says 200 and everything else 503. */
  readonly open: (address: AddressInfo) => Promise<Served>;
  /** The public URL whose page on errors problem documents point to. */
  readonly receiptsUrl?: (address: AddressInfo) => string;
  /** After the first signal: how long `/readyz` says 503 before anything is refused, in milliseconds. */
  readonly lameDuckMs?: number;
  /** After that: how long requests in flight may take, in milliseconds. */
  readonly drainMs?: number;
  readonly maxConnections?: number;
  /** How long a request may take to come as a whole, in milliseconds. */
  readonly requestMs?: number;
}

export interface Listening {
  readonly address: AddressInfo;
  /** Resolves once the server and the service are closed; rejects with what closing threw. */
  readonly closed: Promise<void>;
  /** Says that it leaves, stops accepting, lets requests in flight finish, then closes the service. Idempotent. */
  readonly close: () => Promise<void>;
}

/** Why the server cannot listen, in one line for a human. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** How long the last bytes of answers that were cut have to be sent, in milliseconds. */
const LAST_BYTES_MS = 1_000;
/** How long a request may take to begin once nothing new is taken: it is answered 503 then, and cut off after. */
const BEGIN_MS = 1_000;

/**
 * Listens until SIGTERM or SIGINT, then drains; a second signal ends the process at once.
 *
 * @throws ListenError when the address cannot be had; or what `open` threw
 */
export async function listen({
  host,
  port,
  open,
  receiptsUrl = () => '',
  lameDuckMs = 0,
  drainMs = 10_000,
  maxConnections = 4_096,
  requestMs = 1_800_000,
}: ListenOptions): Promise<Listening> {
  const front = new Front({ maxConnections, requestMs });
  const { server } = front;
  const address = await bind(server, host, port);
  front.receiptsUrl = receiptsUrl(address);
  const served = await open(address).catch(async (error: unknown) => {
    server.close();
    server.closeAllConnections();
    throw error;
  });
  front.app = served;
  front.phase = 'open';

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= drain(front, served, { lameDuckMs, drainMs }).then(() => served.close());
    return closing;
  };
  return { address, close, closed: closeOnSignal(server, close) };
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

/**
 * Connections that stay open for a next request are closed as they fall idle, and those that never began one after a
 * second. After `drainMs`, what still runs is cut, and soon after all connections are closed.
 */
async function drain(
  front: Front,
  served: Pick<Served, 'cut'>,
  { lameDuckMs, drainMs }: { readonly lameDuckMs: number; readonly drainMs: number },
): Promise<void> {
  const { server } = front;
  const { promise, resolve } = Promise.withResolvers<void>();
  if (lameDuckMs > 0) {
    front.phase = 'leaving';
    await delay(lameDuckMs);
  }
  front.phase = 'draining';
  server.close(() => resolve());
  const began = performance.now();
  const idle = setInterval(() => {
    if (performance.now() - began < BEGIN_MS) server.closeIdleConnections();
    else front.closeUnasked();
  }, 50);
  const ended = new AbortController();
  void cutLate(drainMs, served, ended).finally(() => server.closeAllConnections());
  await promise;
  clearInterval(idle);
  ended.abort();
}

/** Resolves when everything that runs was cut and had the time to say so, or once `ended` is aborted. */
async function cutLate(drainMs: number, { cut }: Pick<Served, 'cut'>, ended: AbortController): Promise<void> {
  try {
    await delay(drainMs, undefined, ended);
    if (cut === undefined) return;
    await cut();
    await delay(LAST_BYTES_MS, undefined, ended);
  } catch {
    // All connections had ended before, or the cut failed: then they are closed without more ado.
  }
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
