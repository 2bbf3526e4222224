import { isObject, type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { attempt } from './attempt.ts';
import { formatText } from './words.ts';

const PATIENCE_MS = 20_000;

/** Why there is no answer. */
export interface RequestFailure {
  /** HTTP status; null if nobody answered. */
  readonly status: number | null;
  /** The problem's `detail` (RFC 9457). */
  readonly detail: string | null;
  /** The seconds to wait, as the service gives them. */
  readonly retryAfter: string | null;
}

const NO_ANSWER: RequestFailure = { status: null, detail: null, retryAfter: null };

/** The bytes of an answer of the service that served this page. Never throws. */
export async function fetchBytes(
  path: `/${string}`,
  request: RequestInit = {},
): Promise<Uint8Array | RequestFailure> {
  try {
    // oxlint-disable-next-line no-restricted-globals -- The page's own policy is the guard: connect-src 'self'.
    const response = await fetch(path, { ...request, signal: AbortSignal.timeout(PATIENCE_MS) });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return bytes;
    const { status, headers } = response;
    return { status, detail: detailOf(bytes), retryAfter: headers.get('retry-after') };
  } catch {
    return NO_ANSWER;
  }
}

/** As `ask`, of an answer that is JSON. `T` is what the API says of it: the page's own service is believed. */
export async function fetchJson<T = JsonValue>(
  path: `/${string}`,
  request?: RequestInit,
): Promise<T | RequestFailure> {
  const answer = await fetchBytes(path, request);
  if (!(answer instanceof Uint8Array)) return answer;
  const document = attempt(() => parseJson(answer));
  return document instanceof TallyError ? NO_ANSWER : (document as T);
}

export function isRequestFailure(answer: unknown): answer is RequestFailure {
  return typeof answer === 'object' && answer !== null && 'retryAfter' in answer;
}

/** Why there is no answer: in the service’s own words where it says why. */
export function reasonOf(
  { status, detail, retryAfter }: RequestFailure,
  words: { readonly unreachable: string; readonly answered: string; readonly later: string },
): string {
  if (status === null) return words.unreachable;
  const later = retryAfter === null ? null : formatText(words.later, retryAfter);
  const parts = [detail ?? formatText(words.answered, status), later];
  return parts.filter((part) => part !== null).join(' ');
}

function detailOf(bytes: Uint8Array): string | null {
  const problem = attempt(() => parseJson(bytes));
  if (problem instanceof TallyError || !isObject(problem)) return null;
  return typeof problem.detail === 'string' ? problem.detail : null;
}
