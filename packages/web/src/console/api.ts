import { isObject, signRequest } from '@tallystick/core';
import { events } from './events.ts';
import { type Identity, identity } from './identity/identity.ts';

/** Why a request has no answer: the members of the problem document (RFC 9457), as far as there are any. */
export class ApiProblem extends Error {
  /** HTTP status; null if nobody answered. */
  readonly status: number | null;
  readonly code: string;
  readonly title: string;
  /** The offending member of the request. */
  readonly field: string | null;
  readonly requestId: string | null;
  /** What a payment by x402 has to be: the header `PAYMENT-REQUIRED`. */
  readonly payment: string | null;

  constructor(status: number | null, problem: Readonly<Record<string, unknown>>, headers: Headers | null) {
    const text = (name: string): string | null => {
      const member = problem[name];
      return typeof member === 'string' ? member : null;
    };
    super(text('detail') ?? (status === null ? UNREACHABLE : `The service answered ${status}.`));
    this.status = status;
    this.code = text('code') ?? 'unavailable';
    this.title = text('title') ?? (status === null ? 'No answer' : 'The request failed');
    this.field = text('field');
    this.requestId = headers?.get('x-request-id') ?? null;
    this.payment = headers?.get('payment-required') ?? null;
  }
}

const UNREACHABLE = 'The service cannot be reached. Check the connection, then try again.';
const PATIENCE_MS = 30_000;

export type Query = Readonly<Record<string, string | number | null | undefined>>;

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Members that are null, undefined or empty are left out. */
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Who asks, if it is not who is signed in. */
  readonly as?: Identity | null;
}

/** A page of a list. */
export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/**
 * The JSON answer of this service, asked as whoever is signed in. `T` is the type that the reference documents: the page's
 * own service is trusted.
 * @throws ApiProblem, and AbortError once `signal` says so
 */
export async function api<T>(path: `/${string}`, request: ApiRequest = {}): Promise<T> {
  const text = await apiText(path, request);
  return (text === '' ? null : JSON.parse(text)) as T;
}

/** The answer as text, byte for byte as the service gave it: for receipts. @throws ApiProblem */
export async function apiText(path: `/${string}`, request: ApiRequest = {}): Promise<string> {
  const response = await send(path, request, PATIENCE_MS);
  return response.text().catch(unanswered);
}

/** The answer itself, whose body is read as it arrives, however long it takes. @throws ApiProblem */
export async function apiStream(path: `/${string}`, request: ApiRequest = {}): Promise<Response> {
  return send(path, request, null);
}

/**
 * The data of the server-sent events of one name, until `signal` aborts or the service ends.
 * @param heard called for each piece of the answer that arrives, comments too
 * @throws ApiProblem, and the error of the stream where it breaks off
 */
export async function* apiEvents<T>(
  path: `/${string}`,
  name: string,
  request: ApiRequest,
  heard: () => void,
): AsyncGenerator<T> {
  const response = await send(path, { ...request, headers: { accept: 'text/event-stream' } }, null);
  if (response.body === null) return;
  for await (const { event, data } of events(response.body, heard))
    if (event === name) yield JSON.parse(data) as T;
}

/** The path with its query. */
function withQuery(path: `/${string}`, query: Query = {}): `/${string}` {
  const members = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(members).toString();
  return text === '' ? path : `${path}?${text}`;
}

async function send(
  path: `/${string}`,
  { method = 'GET', query, body, headers = {}, signal, as = identity.peek() }: ApiRequest,
  patience: number | null,
): Promise<Response> {
  const url = new URL(withQuery(path, query), location.origin);
  const bytes = body === undefined ? null : new TextEncoder().encode(JSON.stringify(body));
  const proof = await proofOf(as, method, url, bytes);
  const signals = [
    ...(signal ? [signal] : []),
    ...(patience === null ? [] : [AbortSignal.timeout(patience)]),
  ];
  const response = await answerOf(url, {
    method,
    body: bytes,
    headers: { ...(bytes === null ? {} : { 'content-type': 'application/json' }), ...headers, ...proof },
    signal: AbortSignal.any(signals),
    credentials: 'omit',
    cache: 'no-store',
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => null);
  throw new ApiProblem(response.status, isObject(problem) ? problem : {}, response.headers);
}

function answerOf(url: URL, init: RequestInit): Promise<Response> {
  // oxlint-disable-next-line no-restricted-globals -- The page's own policy is the guard: connect-src 'self'.
  return fetch(url, init).catch(unanswered);
}

/** Says of a request or of its answer that the network or the time has ended it. @throws ApiProblem, or AbortError as it is */
function unanswered(error: unknown): never {
  if (error instanceof DOMException && error.name === 'AbortError') throw error;
  throw new ApiProblem(null, {}, null);
}

/** The headers that prove who asks; a signature is made for each request and is good for it alone. */
async function proofOf(
  who: Identity | null,
  method: string,
  url: URL,
  body: Uint8Array | null,
): Promise<Readonly<Record<string, string>>> {
  if (who === null) return {};
  if (who.way === 'bearer') return { authorization: `Bearer ${who.key}` };
  const moment = { created: Math.floor(Date.now() / 1_000), nonce: crypto.randomUUID() };
  return signRequest({ method, url, body }, who.agent, moment);
}
