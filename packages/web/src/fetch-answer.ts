import { isObject, type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { attempt } from './attempt.ts';
import { formatText } from './words.ts';

const PATIENCE_MS = 20_000;

/** Why a request has no answer. */
export interface RequestFailure {
  /** HTTP status; null if nobody answered. */
  readonly status: number | null;
  /** The `detail` of the problem document (RFC 9457). */
  readonly detail: string | null;
  /** Seconds to wait, as the service gave them. */
  readonly retryAfter: string | null;
}

const NO_ANSWER: RequestFailure = { status: null, detail: null, retryAfter: null };

/** Fetches the bytes of an answer from the service that served this page. Never throws. */
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

/** As `fetchBytes`, for a JSON answer. `T` is the type that the API documents: the page's own service is trusted. */
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

/** Why there is no answer, in the service’s own words if it says so. */
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
