import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TallyError } from '@tallystick/core';
import { type Answer, json } from './answer.ts';
import { type Answered, finishedOf, write } from './answered.ts';
import { type Asked, type Bindings, ReceivedRequest } from './asked.ts';
import { type Dialect, dialectAt } from './dialect.ts';
import { discardRest } from './discard-rest.ts';
import { commonHeaders, refusal, requestIdOf } from './refusal.ts';

/** What answers requests once the service is open. */
export interface App {
  /** Hono's, which reads no more of a request, and hands on what a handler returns. */
  fetch(request: Asked, bindings: Bindings): Answered | Promise<Answered>;
  /** Counts an answer that was given without the app. */
  readonly counted?: (status: number) => void;
}

/**
 * `starting`: the service is not open yet. `open`. `leaving`: requests are served, and `/readyz` answers 503 so that
 * balancers send no more. `draining`: requests in flight are finished, and no new ones are taken.
 */
type Phase = 'starting' | 'open' | 'leaving' | 'draining';

export interface FrontOptions {
  /** Connections that are served at once; further ones are answered 503. */
  readonly maxConnections: number;
  /** The dialects of the app, which is absent while the service starts. */
  readonly dialects: readonly Dialect[];
  /** Milliseconds from the first byte of a request to its last. */
  readonly requestMs: number;
}

/**
 * The HTTP server in front of the app. It gives every answer that the app cannot give: to what is not an HTTP request,
 * while the service starts or ends, and beyond the limit of connections. Each has a request id and a problem document.
 */
export class Front {
  readonly server: Server;
  phase: Phase = 'starting';
  app: App | undefined;
  /** Public URL with which the `type` of a problem document begins. */
  receiptsUrl = '';
  /** Sockets beyond the limit of connections. */
  readonly #beyond = new WeakSet<object>();
  /** Open sockets, with the number of requests being answered on each. */
  readonly #openRequests = new Map<Socket, number>();
  readonly #dialects: readonly Dialect[];

  constructor({ maxConnections, dialects, requestMs }: FrontOptions) {
    this.#dialects = dialects;
    const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      this.#count(incoming.socket, 1);
      outgoing.once('close', () => {
        this.#count(incoming.socket, -1);
        discardRest(incoming);
      });
      const refused = this.#refusalOf(incoming);
      if (refused !== null) return this.#give(refused, incoming, outgoing);
      if (this.phase === 'leaving') outgoing.setHeader('connection', 'close');
      void this.#serve(incoming, outgoing);
    };
    this.server = createServer(SERVER_OPTIONS, onRequest);
    this.server.requestTimeout = requestMs;
    this.server.timeout = SILENT_MS;
    this.server
      .on('timeout', (socket) => this.#endSilent(socket))
      // `http/body.ts` sends 100 when it begins to read, so that a request can be refused by its head alone.
      .on('checkContinue', onRequest)
      .on('checkExpectation', (incoming, outgoing) => this.#give(unexpected(), incoming, outgoing))
      .on('connect', (incoming, socket) => this.#refuseTunnel(incoming, socket))
      .on('clientError', (error: NodeJS.ErrnoException, socket) => this.#giveRaw(error, socket));
    this.#limit(maxConnections);
  }

  #limit(maxConnections: number): void {
    this.server.maxConnections = maxConnections + REFUSED_AT_ONCE;
    this.server.on('connection', (socket: Socket) => {
      this.#openRequests.set(socket, 0);
      socket.once('close', () => this.#openRequests.delete(socket));
      if (this.#openRequests.size <= maxConnections) return;
      this.#beyond.add(socket);
      socket.setTimeout(REFUSED_MS);
    });
  }

  #count(socket: Socket, change: 1 | -1): void {
    const openRequests = this.#openRequests.get(socket);
    if (openRequests !== undefined) this.#openRequests.set(socket, openRequests + change);
  }

  /**
   * Ends a connection on which no byte has moved for a while, unless that is the service's turn: a request is being answered, and the
   * client has taken all that was sent so far.
   */
  #endSilent(socket: Socket): void {
    const isOurTurn = (this.#openRequests.get(socket) ?? 0) > 0 && socket.writableLength === 0;
    if (!isOurTurn) socket.destroy();
  }

  /** Closes every connection on which no request is being answered: idle ones, and those whose request has not arrived. */
  closeUnasked(): void {
    for (const [socket, openRequests] of this.#openRequests) if (openRequests === 0) socket.destroy();
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      if (this.app === undefined) throw new Error('The front is open without an app.');
      const answered = await this.app.fetch(new ReceivedRequest(incoming), { incoming, outgoing });
      await write(finishedOf(answered), outgoing);
    } catch (thrown) {
      if (outgoing.headersSent) return void outgoing.destroy();
      this.#give({ thrown }, incoming, outgoing);
    }
  }

  /** The answer that needs no app, or null. */
  #refusalOf(incoming: IncomingMessage): ConnectionRefusal | null {
    const fault = faultOf(incoming);
    if (fault !== null) return { thrown: new TallyError('request_malformed', fault) };
    if (incoming.url === '*' && incoming.method === 'OPTIONS') return { answer: WHOLE_SERVER };
    const closed = this.#closed(incoming.socket);
    if (closed === null) return null;
    // A request target may be no valid URL.
    const pathname = URL.parse(incoming.url ?? '', 'http://localhost')?.pathname;
    const looks = incoming.method === 'GET' || incoming.method === 'HEAD';
    if (looks && pathname === '/readyz') return { answer: unready(closed) };
    if (this.phase === 'leaving') return null;
    if (looks && pathname === '/healthz') return { answer: ALIVE };
    const message = `The service is ${closed}. Try again in ${RETRY_SECONDS} s.`;
    return { thrown: new TallyError('unavailable', message), headers: { 'retry-after': RETRY_SECONDS } };
  }

  /** Why requests on the connection are not served, as the rest of a sentence; null when they are. */
  #closed(socket: Socket): string | null {
    if (this.phase !== 'open') return CLOSED[this.phase];
    return this.#beyond.has(socket) ? 'at its limit of connections' : null;
  }

  #give(refused: ConnectionRefusal, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const given = incoming.headers['x-request-id'];
    const { status, headers, body } = this.#written(
      refused,
      incoming.url ?? '',
      Array.isArray(given) ? undefined : given,
    );
    outgoing.writeHead(status, headers).end(body);
    // Unread bytes would reset the connection before the client has read the answer.
    incoming.resume();
  }

  /** Answers CONNECT, which asks a proxy for a tunnel. Node gives only a socket for it, as for an upgrade. */
  #refuseTunnel({ url = '' }: IncomingMessage, socket: Duplex): void {
    const thrown = new TallyError('method_not_allowed', 'The service is not a proxy and opens no tunnels.');
    socket.on('error', () => socket.destroy());
    this.#write({ thrown, headers: { allow: METHODS } }, url, socket);
  }

  /** Answers bytes that the parser refused, or that came too slowly. There is only a socket, no request or response. */
  #giveRaw(error: NodeJS.ErrnoException, socket: Duplex): void {
    // As in Node's own default, an answer that has begun is broken off.
    const { _httpMessage: begun } = socket as { _httpMessage?: { headersSent: boolean } };
    if (error.code === 'ECONNRESET' || !socket.writable || begun?.headersSent === true) {
      return void socket.destroy();
    }
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return this.#endLate(error, socket as Socket);
    this.#write({ thrown: parserError(error) }, '', socket);
  }

  /**
   * Ends a connection whose request has not come in time. This looks once more first, since a process that stood still has not read what
   * came meanwhile. A connection that never sent a byte is closed without an answer, which its client could take for that to a request sent just now.
   */
  #endLate(error: NodeJS.ErrnoException, socket: Socket): void {
    const before = socket.bytesRead;
    setImmediate(() => {
      if (socket.bytesRead !== before || !socket.writable) return;
      if (before === 0) return void socket.destroy();
      this.#write({ thrown: parserError(error) }, '', socket);
    });
  }

  #write(refused: ConnectionRefusal, path: string, socket: Duplex): void {
    const { status, headers, body } = this.#written(refused, path, undefined);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    (socket as Socket).destroySoon();
  }

  #written(refused: ConnectionRefusal, path: string, givenId: string | undefined): Written {
    const requestId = requestIdOf(givenId);
    const { receiptsUrl } = this;
    const dialect = dialectAt(this.#dialects, path);
    const answer = refused.answer ?? refusal(refused.thrown, { dialect, requestId, receiptsUrl });
    this.app?.counted?.(answer.status);
    const body = typeof answer.body === 'string' ? answer.body : '';
    return {
      status: answer.status,
      headers: {
        ...commonHeaders(requestId),
        ...(answer.contentType === null
          ? {}
          : { 'content-type': answer.contentType, 'content-length': String(Buffer.byteLength(body)) }),
        ...answer.headers,
        ...refused.headers,
        connection: 'close',
      },
      body,
    };
  }
}

interface Written {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** An answer given without the app: a finished one, or what was thrown. */
interface ConnectionRefusal {
  readonly answer?: Answer;
  readonly thrown?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Milliseconds for which a client may take no byte of its answer. Node measures progress by them, and may notice only after twice as many. */
const SILENT_MS = 60_000;

const SERVER_OPTIONS = {
  maxHeaderSize: 16_384,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  // Longer than the 60 s after which common load balancers drop an idle connection, so that the balancer closes it
  // first.
  keepAliveTimeout: 65_000,
  // `faultOf` checks Host, and explains more than an empty 400.
  requireHostHeader: false,
};

/** Connections beyond the limit that are answered 503; further ones are closed without an answer. */
const REFUSED_AT_ONCE = 256;
/** Milliseconds for a connection beyond the limit to send a request. */
const REFUSED_MS = 2_000;
const RETRY_SECONDS = '5';

const CLOSED = { starting: 'starting', leaving: 'shutting down', draining: 'shutting down' };

const NO_STORE = { headers: { 'cache-control': 'no-store' } };
const ALIVE = json({ status: 'ok' }, NO_STORE);

/** The answer of `/readyz`, as in `routes/meta.ts`. */
function unready(why: string): Answer {
  return json({ status: 'unavailable', checks: { service: why } }, { status: 503, ...NO_STORE });
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** The answer to `OPTIONS *`, which asks what the whole server supports (RFC 9110, section 9.3.7). */
const WHOLE_SERVER: Answer = {
  status: 204,
  body: null,
  contentType: null,
  headers: { allow: METHODS },
};

/** What makes the head of a request ambiguous (RFC 9112, sections 3.2 and 6.1; RFC 9110, section 5.3), or null. */
function faultOf({ rawHeaders, headers, httpVersion }: IncomingMessage): string | null {
  if (headers.host === undefined && httpVersion !== '1.0')
    return 'A request of HTTP/1.1 needs a Host header.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && httpVersion === '1.0') return 'A request of HTTP/1.0 has no Transfer-Encoding.';
  // Node would hand on the body of `gzip, chunked` as it is, compressed.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return 'The only Transfer-Encoding supported is chunked.';
  let hosts = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1;
  }
  if (hosts > 1) return 'The request has more than one Host header.';
  // Node would take the first one, and a proxy that checks keys may take another.
  return credentials > 1 ? 'The request has more than one Authorization header.' : null;
}

function unexpected(): ConnectionRefusal {
  const message = 'The only expectation supported is Expect: 100-continue.';
  return { thrown: new TallyError('expectation_failed', message) };
}

function parserError({ code, message }: NodeJS.ErrnoException): TallyError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new TallyError('headers_too_large', 'The headers may have 16 KiB in total.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new TallyError('body_too_large', 'The extensions of the body’s chunks are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new TallyError('request_timeout', 'The request did not arrive in time.');
    default:
      return new TallyError('request_malformed', `The request could not be read (${message}).`);
  }
}
