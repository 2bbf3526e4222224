import { isObject, parseJson, TallyError } from '@tallystick/core';
import { attempt } from './attempt.ts';

const PATIENCE_MS = 20_000;

/** Why there is no answer. */
export interface Refusal {
  /** Null where nobody answered. */
  readonly status: number | null;
  /** What the service says of it (RFC 9457). */
  readonly detail: string | null;
  /** The seconds to wait, as the service gives them. */
  readonly retryAfter: string | null;
}

/** The bytes of an answer of the service that served this page. Never throws. */
export async function ask(path: `/${string}`): Promise<Uint8Array | Refusal> {
  try {
    // oxlint-disable-next-line no-restricted-globals -- The page's own policy is the guard: connect-src 'self'.
    const response = await fetch(path, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return bytes;
    const { status, headers } = response;
    return { status, detail: detailOf(bytes), retryAfter: headers.get('retry-after') };
  } catch {
    return { status: null, detail: null, retryAfter: null };
  }
}

function detailOf(bytes: Uint8Array): string | null {
  const problem = attempt(() => parseJson(bytes));
  if (problem instanceof TallyError || !isObject(problem)) return null;
  return typeof problem.detail === 'string' ? problem.detail : null;
}
