import { setTimeout as sleep } from 'node:timers/promises';
import { ProviderError } from '../providers/provider.ts';

export interface RetryPolicy {
  /** Retries after the first attempt. */
  readonly retries: number;
  /** The longest wait before the first retry, in milliseconds; doubled for each one more. */
  readonly baseMs: number;
  /** The longest wait that this policy chooses, in milliseconds. */
  readonly maxMs: number;
  /** The longest wait that a provider may ask for; a provider that asks for more is not retried. */
  readonly maxRetryAfterMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  retries: 2,
  baseMs: 250,
  maxMs: 4_000,
  maxRetryAfterMs: 10_000,
};

export interface RetryOptions {
  readonly signal: AbortSignal;
  readonly policy?: RetryPolicy;
  /** Called before the wait of each retry. */
  readonly onRetry?: (error: ProviderError, waitMs: number) => void;
  /** Random number from 0 up to 1. */
  readonly random?: () => number;
}

/** Statuses that do not blame the request itself. */
const passingStatuses: ReadonlySet<number> = new Set([408, 409, 429]);

/**
 * Returns the result of `attempt`, which is retried while it rejects with an error that may pass: 408, 409, 429, 5xx,
 * or no connection. An attempt that resolves has begun to answer, so nothing is retried after the first byte; neither
 * is a provider that was too slow, since the next candidate may be faster.
 * @throws ProviderError of the last attempt; `aborted` as soon as the signal aborts
 */
export async function callWithRetries<T>(
  attempt: () => Promise<T>,
  { signal, policy = defaultRetryPolicy, onRetry, random = Math.random }: RetryOptions,
): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ProviderError) || !mayPass(error) || retry === policy.retries) throw error;
      const waitMs = waitBefore(retry, error, policy, random);
      if (waitMs === null) throw error;
      onRetry?.(error, waitMs);
      await sleep(waitMs, undefined, { signal }).catch(() => {
        throw new ProviderError('aborted', 'the call was aborted before it was tried again');
      });
    }
  }
}

function mayPass({ kind, status }: ProviderError): boolean {
  if (kind === 'auth') return false;
  return status === null ? kind === 'unreachable' : passingStatuses.has(status) || status >= 500;
}

/** Full jitter on top of what the provider asks for; null if it asks for too much. */
function waitBefore(
  retry: number,
  { retryAfterMs }: ProviderError,
  { baseMs, maxMs, maxRetryAfterMs }: RetryPolicy,
  random: () => number,
): number | null {
  if (retryAfterMs === null) return Math.round(random() * Math.min(maxMs, baseMs * 2 ** retry));
  return retryAfterMs > maxRetryAfterMs ? null : retryAfterMs + Math.round(random() * baseMs);
}
