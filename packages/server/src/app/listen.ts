import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { socketPathOf } from '../config/config.ts';
import type { Dialect } from '../http/dialect.ts';
import { type App, Front } from '../http/front.ts';
import { bindSocket } from './unix-socket.ts';

/** An app with what must be closed after the last request. */
export interface Served extends App {
  /** Ends the answers that go on until their clients leave. Called when draining begins. */
  leave?(): void;
  /**
   * Ends the answers that still run when draining has taken too long; each tells its caller so. Resolves within
   * seconds, once what was delivered is billed. The connections are closed soon after.
   */
  cut?(): Promise<void>;
  close(): Promise<void>;
}

export interface ListenOptions {
  /** An address, or `unix:` and the path of a Unix socket, which then has no port. */
  readonly host: string;
  /** Mode of the file of a Unix socket. */
  readonly socketMode?: number;
  /** 0 for any free port. */
  readonly port: number;
  /** How the operator says host and port, for errors; by default the variables `HOST` and `PORT`. */
  readonly option?: string;
  /** File descriptor of a TCP socket that already listens, instead of `host` and `port`. */
  readonly fd?: number | null;
  /**
   * Address at which other processes of the service listen already: this one then listens only once it is open, since
   * whoever reaches it meanwhile would be refused.
   */
  readonly joins?: AddressInfo | null;
  /** Resolves when the service is to close without a signal. */
  readonly ended?: Promise<unknown> | undefined;
  /** Whether a second signal ends the process at once. */
  readonly impatient?: boolean;
  /** Opens the service once its address is known. Until then `/healthz` answers 200 and everything else 503. */
  readonly open: (address: AddressInfo) => Promise<Served>;
  /** The public URL whose error pages problem documents link to. */
  readonly receiptsUrl?: (address: AddressInfo) => string;
  /** Milliseconds after the first signal during which `/readyz` answers 503 and requests are still served. */
  readonly lameDuckMs?: number;
  /** Milliseconds after that for requests in flight. */
  readonly drainMs?: number;
  readonly maxConnections?: number;
  /** Those that the endpoints speak. */
  readonly dialects?: readonly Dialect[];
  /** Milliseconds for a request to arrive completely. */
  readonly requestMs?: number;
}

export interface Listening {
  readonly address: AddressInfo;
  /** Resolves once the server and the service are closed. Rejects with an error of closing. */
  readonly closed: Promise<void>;
  /**
   * Announces on `/readyz` that it leaves, stops accepting, finishes requests in flight, then closes the service.
   * Idempotent.
   */
  readonly close: () => Promise<void>;
}

/** Why the server cannot listen, in one line for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Milliseconds for sending the last bytes of cut answers. */
const LAST_BYTES_MS = 1_000;
/**
 * Milliseconds in which an open connection may still begin a request while the server drains; it is answered 503, and
 * cut off afterwards.
 */
const BEGIN_MS = 1_000;

/**
 * Listens until SIGTERM or SIGINT, then drains; a second signal ends the process at once, and so does a first one that comes
 * before the service is open. No signal is left to its default: the kernel ignores that in the first process of a container.
 * @throws ListenError when it cannot listen on the address; or what `open` threw
 */
export async function listen({
  host,
  socketMode = 0o660,
  port,
  option,
  fd = null,
  joins = null,
  ended,
  impatient = true,
  open,
  receiptsUrl = () => '',
  lameDuckMs = 0,
  drainMs = 10_000,
  maxConnections = 4_096,
  dialects = [],
  requestMs = 1_800_000,
}: ListenOptions): Promise<Listening> {
  const front = new Front({ maxConnections, dialects, requestMs });
  const { server } = front;
  const endEarly = (): void => process.exit();
  process.on('SIGTERM', endEarly).on('SIGINT', endEarly);
  try {
    const where = { host, port, option, fd, socketMode };
    const address = joins ?? (await bindTo(server, where));
    front.receiptsUrl = receiptsUrl(address);
    const served = await open(address).catch(async (error: unknown) => {
      server.close();
      server.closeAllConnections();
      throw error;
    });
    front.app = served;
    front.phase = 'open';
    if (joins !== null) await bindTo(server, where);

    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closing ??= drain(front, served, { lameDuckMs, drainMs }).then(() => served.close());
      return closing;
    };
    void ended?.then(close, () => undefined);
    return { address, close, closed: closeOnSignal(server, close, impatient) };
  } finally {
    process.off('SIGTERM', endEarly).off('SIGINT', endEarly);
  }
}

function bindTo(
  server: Server,
  {
    host,
    port,
    option,
    fd,
    socketMode,
  }: Required<Pick<ListenOptions, 'host' | 'port' | 'fd' | 'socketMode'>> & {
    readonly option: string | undefined;
  },
): Promise<AddressInfo> {
  if (fd !== null) return bind(server, { fd });
  const path = socketPathOf(host);
  return path === null ? bind(server, { host, port }, option) : bindPath(server, path, socketMode);
}

type Where = { readonly host: string; readonly port: number } | { readonly fd: number };

function bind(server: Server, where: Where, option?: string): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const onError = (error: NodeJS.ErrnoException): void =>
    reject(new ListenError(explain(error, where, option), { cause: error }));
  server.once('error', onError);
  server.listen(where, () => {
    server.off('error', onError);
    resolve(server.address() as AddressInfo);
  });
  return promise;
}

/** The address of a Unix socket is its path, without a port. */
async function bindPath(server: Server, path: string, mode: number): Promise<AddressInfo> {
  try {
    await bindSocket(server, path, mode);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why =
      code === 'EADDRINUSE' ? 'another process listens there, or it is a file of another kind' : message;
    throw new ListenError(`Cannot listen on ${path}: ${why}. Choose another with HOST.`, { cause });
  }
  return { address: path, family: 'unix', port: 0 };
}

function explain(error: NodeJS.ErrnoException, where: Where, option?: string): string {
  if ('fd' in where) return `Cannot listen on the socket that was passed: ${error.message}.`;
  const { host, port } = where;
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another process. Stop that one, or choose another with ${option ?? 'PORT'}.`;
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose one above 1023 with ${option ?? 'PORT'}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose another with ${option ?? 'HOST'}.`;
    default:
      return `Cannot listen on ${host} port ${port}: ${error.message}.`;
  }
}

/**
 * Closes connections as they fall idle, and those that never began a request after a second. After `drainMs` it cuts
 * what still runs, and soon after closes all connections.
 */
async function drain(
  front: Front,
  served: Pick<Served, 'cut' | 'leave'>,
  { lameDuckMs, drainMs }: { readonly lameDuckMs: number; readonly drainMs: number },
): Promise<void> {
  const { server } = front;
  const { promise, resolve } = Promise.withResolvers<void>();
  if (lameDuckMs > 0) {
    front.phase = 'leaving';
    await delay(lameDuckMs);
  }
  front.phase = 'draining';
  served.leave?.();
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

/** Resolves when everything that runs was cut and could announce it, or once `ended` is aborted. */
async function cutLate(drainMs: number, { cut }: Pick<Served, 'cut'>, ended: AbortController): Promise<void> {
  try {
    await delay(drainMs, undefined, ended);
    if (cut === undefined) return;
    await cut();
    await delay(LAST_BYTES_MS, undefined, ended);
  } catch {
    // All connections had ended before, or the cut failed: then they are closed anyway.
  }
}

async function closeOnSignal(server: Server, close: () => Promise<void>, impatient: boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1 && impatient) process.exit(1);
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
