import type { WebAbortSignal } from './platform.ts';
import type { ServiceError } from './service-error.ts';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;

/** Longest `Retry-After` that is waited for; if the service asks for more, the caller gets the error at once. */
export const LONGEST_RETRY_AFTER_SECONDS = 30;

/** Status codes that are retried: the service is busy, or a gateway may not have passed the request on. */
const RETRIED = new Set([429, 502, 503, 504]);

/** Returns whether the same request may succeed later: there was no answer, or the status is one that is retried. */
export function mayPass({ status }: Pick<ServiceError, 'status'>): boolean {
  return status === null || RETRIED.has(status);
}

/**
 * Returns how long to wait before the next attempt, in milliseconds, or null when another would not help. Exponential
 * with full jitter, so that clients that failed together do not retry together; never sooner than the
 * service asked.
 * @param attempt attempts made before the failed one: 0 for the first
 * @param random in [0, 1)
 */
export function retryDelay(
  { status, retryAfter, final }: Pick<ServiceError, 'status' | 'retryAfter' | 'final'>,
  attempt: number,
  random: number = Math.random(),
): number | null {
  if (final || !mayPass({ status })) return null;
  if (retryAfter !== null && retryAfter > LONGEST_RETRY_AFTER_SECONDS) return null;
  const backOff = random * Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  return (retryAfter ?? 0) * 1_000 + backOff;
}

/** Resolves after `milliseconds`; rejects with the signal's reason as soon as it is aborted. */
export function wait(milliseconds: number, signal: WebAbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
