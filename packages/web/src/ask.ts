import { isObject, type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { attempt } from './attempt.ts';
import { say } from './words.ts';

const PATIENCE_MS = 20_000;

/** Why there is no answer. */
export interface Refusal {
  /** HTTP status; null if nobody answered. */
  readonly status: number | null;
  /** The problem's `detail` (RFC 9457). */
  readonly detail: string | null;
  /** The seconds to wait, as the service gives them. */
  readonly retryAfter: string | null;
}

const NO_ANSWER: Refusal = { status: null, detail: null, retryAfter: null };

/** The bytes of an answer of the service that served this page. Never throws. */
export async function ask(path: `/${string}`, request: RequestInit = {}): Promise<Uint8Array | Refusal> {
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
export async function askJson<T = JsonValue>(
  path: `/${string}`,
  request?: RequestInit,
): Promise<T | Refusal> {
  const answer = await ask(path, request);
  if (!(answer instanceof Uint8Array)) return answer;
  const document = attempt(() => parseJson(answer));
  return document instanceof TallyError ? NO_ANSWER : (document as T);
}

export function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === 'object' && answer !== null && 'retryAfter' in answer;
}

/** Why there is no answer: in the service’s own words where it says why. */
export function reasonOf(
  { status, detail, retryAfter }: Refusal,
  words: { readonly unreachable: string; readonly answered: string; readonly later: string },
): string {
  if (status === null) return words.unreachable;
  const later = retryAfter === null ? null : say(words.later, retryAfter);
  const said = [detail ?? say(words.answered, status), later];
  return said.filter((part) => part !== null).join(' ');
}

function detailOf(bytes: Uint8Array): string | null {
  const problem = attempt(() => parseJson(bytes));
  if (problem instanceof TallyError || !isObject(problem)) return null;
  return typeof problem.detail === 'string' ? problem.detail : null;
}
