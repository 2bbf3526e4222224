import { canonicalize, copyJson, type JsonValue, parseJson, TallyError, utf8 } from '@tallystick/core';
import { type Addresses, placesOf } from './base-url.ts';
import { type Credentials, freshKey, identify, prove } from './credentials.ts';
import type { WebAbortSignal, WebBody, WebHeaders, WebRequestInit, WebResponse } from './platform.ts';
import { retryDelay, wait } from './retry.ts';
import { refused, ServiceError, unreached } from './service-error.ts';

/** The part of the platform's `fetch` that the client uses. */
export type Fetch = (url: string, init: WebRequestInit) => Promise<WebResponse>;

export interface TransportOptions extends Addresses, Credentials {
  /** Used in place of the platform's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Timeout of each attempt, to the answer's last byte: 30,000 when absent. Restarts with each piece of a streamed body. */
  readonly timeoutMs?: number | undefined;
  /** Number of attempts after the first, on 429, 502, 503, 504 and without an answer: 2 when absent. */
  readonly retries?: number | undefined;
}

/** Options that every method accepts beside its parameters. */
export interface CallOptions {
  /** Ends the call at any time; the method then rejects with the signal's reason. */
  readonly signal?: WebAbortSignal | undefined;
  /**
   * 1 to 255 visible ASCII characters. The same key with the same parameters gets the same answer for 72
   * hours. A fresh random one when absent, so that the client's own retries never act twice.
   */
  readonly idempotencyKey?: string | undefined;
  /** Timeout for this call, in place of the client's. */
  readonly timeoutMs?: number | undefined;
}

/** An answer: its JSON, its exact text, and its headers. `T` is the type that the API documents; it is not checked. */
export interface Reply<T = JsonValue> {
  readonly json: T;
  readonly text: string;
  readonly headers: WebHeaders;
}

/** Signals that the body of one attempt must obey. */
export interface UploadAttempt {
  /** Aborted when the attempt is over: the body must not be read further. */
  readonly signal: WebAbortSignal;
  /**
   * Aborted when the answer is there: the body must end. A service that refused early reads only a limited rest
   * before it closes the connection, and then its answer could be lost.
   */
  readonly answered: WebAbortSignal;
  /** Called for each piece that is sent, so that the timeout starts again. */
  readonly onPiece: () => void;
  /** Called with the error that the source of the body threw. */
  readonly onFailure: (error: unknown) => void;
}

/** A request body that is made anew for each attempt. */
export interface Upload {
  readonly contentType: string;
  /** Whether `open` can be called more than once. If not, the request is attempted once. */
  readonly repeatable: boolean;
  /** The whole body, if it is in memory. */
  readonly text?: string;
  open(attempt: UploadAttempt): Promise<WebBody>;
}

/**
 * Requests to one service. All methods reject with ServiceError, or with the reason of `call.signal`.
 * `post` sends the JCS of its members, `undefined` ones left out, and rejects with the codes of `copyJson`.
 */
export interface Transport {
  get<T = JsonValue>(path: string, call?: CallOptions): Promise<Reply<T>>;
  /** Null sends no body. */
  post<T = JsonValue>(path: string, members: object | null, call?: CallOptions): Promise<Reply<T>>;
  /** As `post`, with the method PATCH. */
  patch<T = JsonValue>(path: string, members: object, call?: CallOptions): Promise<Reply<T>>;
  /** The JSON of an answer without content is null. */
  delete<T = JsonValue>(path: string, call?: CallOptions): Promise<Reply<T>>;
  upload(path: string, body: Upload, call?: CallOptions): Promise<Reply>;
  /** Downloads the bytes at a path. `accept` is the media type to ask for. */
  download(path: string, accept: string, call?: CallOptions): Promise<Uint8Array>;
  /**
   * Reads the lines at a path as they come, until the service ends them. It is asked once, and the timeout is for the first
   * line. Of server-sent events, `text/event-stream`, a line must come each minute after that.
   */
  lines(path: string, accept: string, call?: CallOptions): AsyncGenerator<string, void, undefined>;
}

/** Creates a transport. @throws invalid_field for an invalid address */
export function createTransport(options: TransportOptions): Transport {
  const { agent, retries = 2, timeoutMs = 30_000 } = options;
  const placeOf = placesOf(options);
  const fetch = fetchOf(options);

  const headersFor = (path: string, upload: Upload | null, accept: string, call: CallOptions): Headers => {
    const headers = new Headers({ accept });
    if (!placeOf(path).isSite) identify(headers, options);
    if (upload === null) return headers;
    headers.set('content-type', upload.contentType);
    const { idempotencyKey = freshKey() } = call;
    if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
      const message = '`idempotencyKey` must be 1 to 255 visible ASCII characters.';
      throw new TallyError('invalid_field', message, { field: 'idempotencyKey' });
    }
    headers.set('idempotency-key', idempotencyKey);
    return headers;
  };

  const attempt = async <T>(path: string, request: Requested<T>, call: CallOptions) => {
    const { upload, read } = request;
    const place = placeOf(path);
    const url = `${place.url}${path}`;
    const headers = new Headers(request.headers);
    const inMemory = upload === null || upload.text !== undefined;
    if (agent !== undefined && !place.isSite && inMemory) {
      const body = upload?.text === undefined ? null : utf8(upload.text);
      await prove(headers, { method: request.method, url: new URL(url), body }, agent);
    }
    const limit = call.timeoutMs ?? timeoutMs;
    const { method } = request;
    const exchange = await exchangeOnce(
      url,
      { method, headers, upload },
      { fetch, signal: call.signal, limit },
    );
    if ('failure' in exchange)
      return unreached(place.url, exchange.failure, exchange.timedOut ? limit : null);
    const { response, body } = exchange;
    if (!response.ok) return refused(place.url, response, body);
    try {
      return read(response, body);
    } catch (cause) {
      if (!(cause instanceof TallyError)) throw cause;
      return refused(place.url, response, body, cause);
    }
  };

  const send = async <T>(path: string, request: Requested<T>, call: CallOptions): Promise<T> => {
    call.signal?.throwIfAborted();
    const last = request.upload?.repeatable === false ? 0 : retries;
    for (let made = 0; ; made++) {
      const outcome = await attempt(path, request, call);
      if (!(outcome instanceof ServiceError)) return outcome;
      const delay = made < last ? retryDelay(outcome, made) : null;
      if (delay === null) throw outcome;
      await wait(delay, call.signal);
    }
  };

  const ask = async <T>(
    method: Method,
    path: string,
    upload: Upload | null,
    call: CallOptions = {},
  ): Promise<Reply<T>> => {
    const headers = headersFor(path, upload, 'application/json', call);
    const reply = await send(path, { method, upload, headers, read: replyIn }, call);
    return { ...reply, json: reply.json as T };
  };

  async function* lines(
    path: string,
    accept: string,
    { signal, timeoutMs: limit = timeoutMs }: CallOptions = {},
  ): AsyncGenerator<string, void, undefined> {
    const { url: base } = placeOf(path);
    const url = `${base}${path}`;
    const headers = headersFor(path, null, accept, {});
    if (agent !== undefined) await prove(headers, { method: 'GET', url: new URL(url), body: null }, agent);
    const deadline = new AbortController();
    let patience = limit;
    let timer = after(patience, () => deadline.abort());
    const ended = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]);
    try {
      const response = await fetch(url, { headers, redirect: 'manual', signal: ended });
      if (!response.ok) throw refused(base, response, new Uint8Array(await response.arrayBuffer()));
      if (response.body === null) return;
      const decoder = new TextDecoder();
      let rest = '';
      for await (const piece of piecesOf(response.body)) {
        clearTimeout(timer);
        const parts = (rest + decoder.decode(piece, { stream: true })).split('\n');
        rest = parts.pop() ?? '';
        yield* parts;
        // The time in which the reader wants nothing does not count.
        patience = accept === EVENTS ? QUIET_MS : Infinity;
        timer = after(patience, () => deadline.abort());
      }
    } catch (failure) {
      signal?.throwIfAborted();
      throw failure instanceof ServiceError
        ? failure
        : unreached(base, failure, deadline.signal.aborted ? patience : null);
    } finally {
      clearTimeout(timer);
      deadline.abort();
    }
  }

  return {
    get: (path, call) => ask('GET', path, null, call),
    post: async (path, members, call) =>
      ask('POST', path, members === null ? null : jsonUpload(members), call),
    patch: async (path, members, call) => ask('PATCH', path, jsonUpload(members), call),
    delete: (path, call) => ask('DELETE', path, null, call),
    upload: (path, body, call) => ask('POST', path, body, call),
    download: async (path, accept, call = {}) =>
      send(
        path,
        {
          method: 'GET',
          upload: null,
          headers: headersFor(path, null, accept, call),
          read: (_, body) => body,
        },
        call,
      ),
    lines,
  };
}

/** The `fetch` of the options, else the platform's. */
export function fetchOf({ fetch }: Pick<TransportOptions, 'fetch'>): Fetch {
  return fetch ?? ((url, init) => globalThis.fetch(url, init));
}

/** A request as each attempt sends it. `read` throws json_* for an answer that is not valid. */
interface Requested<T> {
  readonly method: Method;
  readonly upload: Upload | null;
  readonly headers: Headers;
  readonly read: (response: Response, body: Uint8Array) => T;
}

/** The members that are not undefined. */
export function defined(members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function jsonUpload(members: object): Upload {
  const text = canonicalize(copyJson(defined(members)));
  return { contentType: 'application/json', repeatable: true, text, open: async () => text };
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

type Exchange =
  | { readonly response: Response; readonly body: Uint8Array }
  | { readonly failure: unknown; readonly timedOut: boolean };

const EVENTS = 'text/event-stream';

/** How long a service that says every 15 s that its events go on may say nothing, in milliseconds: then the connection is dead. */
const QUIET_MS = 60_000;

/** The longest time that a timer takes: it would end a longer one at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** As `setTimeout`, but starts no timer for a time that is not finite. */
function after(ms: number, task: () => void): ReturnType<typeof setTimeout> | undefined {
  return Number.isFinite(ms) ? setTimeout(task, Math.min(ms, MAX_TIMER_MS)) : undefined;
}

/** Sends one request and reads its answer. Network errors are returned, not thrown. */
async function exchangeOnce(
  url: string,
  { method, headers, upload }: Pick<Requested<unknown>, 'method' | 'headers' | 'upload'>,
  { fetch, signal, limit }: { fetch: Fetch; signal: AbortSignal | undefined; limit: number },
): Promise<Exchange> {
  const deadline = new AbortController();
  const answered = new AbortController();
  const start = () => after(limit, () => deadline.abort());
  let timer = start();
  const ended = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]);
  let brokenSource: { readonly error: unknown } | undefined;
  try {
    const onFailure = (error: unknown): void => {
      brokenSource = { error };
    };
    const onPiece = (): void => {
      clearTimeout(timer);
      timer = start();
    };
    const body = await upload?.open({ signal: ended, answered: answered.signal, onPiece, onFailure });
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers,
      // Redirects are not followed, because an API key and a receipt's text are for this service only.
      redirect: 'manual',
      signal: ended,
    };
    if (body !== undefined) init.body = body;
    if (body instanceof ReadableStream) {
      init.duplex = 'half';
      // With other values Node's `fetch` clones the request, to repeat it elsewhere, and the clone holds the whole body.
      init.redirect = 'error';
    }
    const response = await fetch(url, init);
    answered.abort();
    return { response, body: new Uint8Array(await response.arrayBuffer()) };
  } catch (failure) {
    signal?.throwIfAborted();
    if (brokenSource !== undefined) throw brokenSource.error;
    return { failure, timedOut: deadline.signal.aborted };
  } finally {
    clearTimeout(timer);
  }
}

/** The pieces of a body. Not every browser iterates over one. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function replyIn({ status, headers }: Response, body: Uint8Array): Reply {
  return { json: status === 204 ? null : parseJson(body), text: new TextDecoder().decode(body), headers };
}
