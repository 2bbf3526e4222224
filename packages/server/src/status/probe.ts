import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { isObject, type JsonObject, type JsonValue, utf8 } from '@tallystick/core';
import type { Answer } from '../http/answer.ts';
import { type Answered, finishedOf } from '../http/answered.ts';
import type { Asked } from '../http/asked.ts';
import type { ProbedEndpoint, ProbeReply, Round } from './endpoints.ts';

/** Handles a request with the whole app, marked as a probe. */
export type ProbedApp = (request: Asked) => Answered | Promise<Answered>;

/** The result of a probe. */
export interface Finding {
  /** Whether the endpoint answered as it must. */
  readonly well: boolean;
  /** `ok`, the code of the answered problem, or `status_<n>`, `wrong_answer`, `timeout`, `failed`. */
  readonly code: string;
  /** Milliseconds until the last byte; null where no answer came. */
  readonly milliseconds: number | null;
}

/** Milliseconds that an answer may take. Seventeen such waits are shorter than the time between two rounds. */
const PATIENCE_MS = 3_000;

/** Probes an endpoint once. Never rejects; ends early, with `timeout`, if the signal aborts. */
export async function probe(
  app: ProbedApp,
  endpoint: ProbedEndpoint,
  { round, origin, signal }: { readonly round: Round; readonly origin: string; readonly signal: AbortSignal },
): Promise<Finding> {
  const started = performance.now();
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const { promise: late, resolve: giveUp } = Promise.withResolvers<null>();
  const onAbort = (): void => giveUp(null);
  limited.addEventListener('abort', onAbort);
  if (limited.aborted) onAbort();
  try {
    const answer = exchange(app, requestFor(endpoint, round, origin, limited));
    // Its rejection does not matter once the wait is over.
    answer.catch(() => {});
    const reply = await Promise.race([answer, late]);
    if (reply === null) return { well: false, code: 'timeout', milliseconds: null };
    const milliseconds = performance.now() - started;
    if (endpoint.holds(reply, round)) return { well: true, code: 'ok', milliseconds };
    return { well: false, code: faultOf(reply), milliseconds };
  } catch {
    return { well: false, code: limited.aborted ? 'timeout' : 'failed', milliseconds: null };
  } finally {
    limited.removeEventListener('abort', onAbort);
  }
}

function requestFor(
  { method, path, target, headers = {}, body }: ProbedEndpoint,
  round: Round,
  origin: string,
  signal: AbortSignal,
): Asked {
  const url = `${origin}${target?.(round) ?? path}`;
  if (body === undefined)
    return { method, url, headers: new Map(Object.entries(headers)), body: null, signal };
  return {
    method,
    url,
    headers: new Map(Object.entries({ 'content-type': 'application/json', ...headers })),
    body: Readable.from([utf8(JSON.stringify(body(round)))]),
    signal,
  };
}

async function exchange(app: ProbedApp, request: Asked): Promise<ProbeReply> {
  const { status, headers, body } = finishedOf(await app(request));
  const text = await textIn(body);
  const contentType = headers['content-type'] ?? '';
  return {
    status,
    contentType,
    text,
    json: contentType.includes('json') ? parsed(text) : {},
  };
}

async function textIn(body: Answer['body']): Promise<string> {
  if (body === null || typeof body === 'string') return body ?? '';
  return body instanceof Uint8Array ? Buffer.from(body).toString() : textOf(body);
}

function parsed(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The code of a problem document (RFC 9457) where the answer is one. */
function faultOf({ status, json }: ProbeReply): string {
  if (typeof json.code === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(json.code)) return json.code;
  return status === 200 ? 'wrong_answer' : `status_${status}`;
}
