import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type FetchFault, GuardedFetchError } from './failure.ts';
import { bareHostname, pinnedLookup } from './pin.ts';

/** How large and how slow a response may be. */
export interface FetchLimits {
  /** Milliseconds for the whole fetch, including redirects and name resolution. */
  readonly totalMs: number;
  /** Milliseconds from the start of the connection to the end of the response's head. */
  readonly headMs: number;
  /** In each window of `windowMs` at least `bytes` of the body must arrive. */
  readonly drip: { readonly windowMs: number; readonly bytes: number };
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** Redirects to follow: for GET only, and within one origin. */
  readonly redirects: number;
}

/** What TLS shows of the server. */
interface TlsFacts {
  /** `TLSv1.3` */
  readonly protocol: string;
  /** OpenSSL's code or text, such as CERT_HAS_EXPIRED; null if the certificate is good for this host. */
  readonly fault: string | null;
  /** Unix milliseconds; null where the server showed no certificate. */
  readonly validFrom: number | null;
  readonly validUntil: number | null;
}

export interface GuardedResponse {
  /** The URL after redirects. */
  readonly url: string;
  readonly status: number;
  /** By lower-case name; values of a repeated header are joined by `, `. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  /** Null for plain http. */
  readonly tls: TlsFacts | null;
}

/** One request on one fresh connection. */
export interface Hop {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  readonly limits: FetchLimits;
  /** Aborting it throws its reason. */
  readonly signal: AbortSignal;
  /** Whether a response under a bad certificate is accepted; `TlsFacts.fault` then says what is wrong. */
  readonly anyCertificate: boolean;
  /** Certificate authorities in addition to the system's, as PEM. */
  readonly ca: string | undefined;
}

type Fail = (fault: FetchFault, message: string, received?: number) => void;

/** @throws GuardedFetchError connect, tls, headers_too_large, body_too_large, encoded, slow, cut */
export async function exchangeOnce(hop: Hop): Promise<GuardedResponse> {
  const { url, limits, signal } = hop;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<GuardedResponse>();
  const outgoing = open(hop);
  const fail: Fail = (fault, message, received = 0) =>
    reject(new GuardedFetchError(fault, message, { url: url.href, received }));
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  let timer = setTimeout(() => fail('slow', `No answer began within ${limits.headMs} ms.`), limits.headMs);

  let connected = false;
  outgoing.once('socket', (socket) =>
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      connected = true;
    }),
  );
  outgoing.on('error', (error: NodeJS.ErrnoException) => fail(...explain(error, connected)));
  outgoing.on('response', (incoming) => {
    clearTimeout(timer);
    const headers = headersOf(incoming);
    const fault = headFault(headers, limits);
    if (fault !== null) return fail(...fault);
    const seen = { url: url.href, status: incoming.statusCode ?? 0, headers, tls: tlsOf(incoming) };
    timer = collect(incoming, limits, { fail, done: (body) => resolve({ ...seen, body }) });
  });
  if (hop.body === null) outgoing.end();
  else outgoing.end(hop.body);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    // Its later errors do not matter, and one without a listener would end the process.
    outgoing.on('error', () => {}).destroy();
  }
}

/** What the head already shows to be wrong with the body. */
function headFault(
  headers: ReadonlyMap<string, string>,
  { bodyBytes }: FetchLimits,
): [FetchFault, string] | null {
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity')
    return ['encoded', 'The body has a Content-Encoding that was not asked for.'];
  return Number(headers.get('content-length') ?? 0) > bodyBytes ? tooLarge(bodyBytes) : null;
}

function tooLarge(limit: number): [FetchFault, string] {
  return ['body_too_large', `The body is larger than ${limit} bytes.`];
}

/** Reads the body while it is within the limits. @returns the timer that checks its speed, for the caller to clear */
function collect(
  incoming: IncomingMessage,
  { bodyBytes, drip: { bytes, windowMs } }: FetchLimits,
  { fail, done }: { readonly fail: Fail; readonly done: (body: Uint8Array) => void },
): NodeJS.Timeout {
  const chunks: Uint8Array[] = [];
  let received = 0;
  let atLastLook = 0;
  const cut = (): void => fail('cut', 'The connection ended before the answer did.', received);
  incoming.on('data', (chunk: Uint8Array) => {
    received += chunk.byteLength;
    if (received > bodyBytes) fail(...tooLarge(bodyBytes), received);
    else chunks.push(chunk);
  });
  incoming.on('error', cut);
  incoming.on('end', () => (incoming.complete ? done(Buffer.concat(chunks, received)) : cut()));
  return setInterval(() => {
    if (received - atLastLook < bytes)
      fail('slow', `Fewer than ${bytes} bytes came in ${windowMs} ms.`, received);
    atLastLook = received;
  }, windowMs);
}

function open({ url, addresses, method, headers, body, limits, anyCertificate, ca }: Hop): ClientRequest {
  const hostname = bareHostname(url);
  const secure = url.protocol === 'https:';
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options = {
    agent: false,
    method,
    host: hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    headers: { ...headers, host: url.host, 'accept-encoding': 'identity', ...length },
    maxHeaderSize: limits.headBytes,
    lookup: pinnedLookup(addresses),
  };
  if (!secure) return httpRequest(options);
  return httpsRequest({
    ...options,
    // An IP address is no server name (RFC 6066, section 3).
    servername: isIP(hostname) === 0 ? hostname : '',
    rejectUnauthorized: !anyCertificate,
    ...(ca === undefined ? {} : { ca }),
  });
}

function explain(error: NodeJS.ErrnoException, connected: boolean): [FetchFault, string] {
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return ['headers_too_large', 'The head of the answer is too large.'];
  if (code.startsWith('HPE_')) return ['cut', 'The answer is not HTTP.'];
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|EPROTO|UNABLE_|DEPTH_ZERO|SELF_SIGNED)/.test(code))
    return ['tls', `The TLS connection was not made: ${code}.`];
  return connected
    ? ['cut', 'The connection ended before the answer did.']
    : ['connect', 'No connection could be made.'];
}

function headersOf({ headers }: IncomingMessage): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function tlsOf({ socket }: IncomingMessage): TlsFacts | null {
  if (!(socket instanceof TLSSocket)) return null;
  const certificate = socket.getPeerX509Certificate();
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    fault: socket.authorized ? null : String(socket.authorizationError),
    validFrom: certificate?.validFromDate.getTime() ?? null,
    validUntil: certificate?.validToDate.getTime() ?? null,
  };
}
