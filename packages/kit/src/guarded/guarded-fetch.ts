import { exchangeOnce, type FetchLimits, type GuardedResponse } from './exchange.ts';
import { GuardedFetchError } from './failure.ts';
import { pinnedAddresses, type Resolve, resolveByDns } from './pin.ts';
import type { GuardPolicy } from './policy.ts';

export interface GuardedFetchOptions {
  readonly policy: GuardPolicy;
  readonly limits?: Partial<FetchLimits>;
  readonly resolve?: Resolve;
  /** Certificate authorities in addition to the system's, as PEM. */
  readonly ca?: string | undefined;
}

interface GuardedRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Headers by lower-case name. Host, Content-Length and Accept-Encoding are set by the fetch. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Accepts a bad certificate and reports what is wrong with it in the response. Send nothing secret with it. */
  readonly anyCertificate?: boolean;
}

/**
 * Fetches a URL that a caller named. Each request has its own connection, and the response is complete and within the
 * limits.
 * @throws GuardedFetchError, and nothing else
 */
export type GuardedFetch = (url: string, request?: GuardedRequest) => Promise<GuardedResponse>;

const FETCH_LIMITS: FetchLimits = {
  totalMs: 10_000,
  headMs: 5_000,
  drip: { windowMs: 2_000, bytes: 256 },
  headBytes: 16_384,
  bodyBytes: 1_048_576,
  redirects: 2,
};

/**
 * The one client for URLs from outside: https only, public addresses only, names resolved once and the connection
 * pinned to the checked addresses, redirects within one origin and checked again, and limits on everything.
 */
export function createGuardedFetch({
  policy,
  limits: given = {},
  resolve = resolveByDns,
  ca,
}: GuardedFetchOptions): GuardedFetch {
  const limits = { ...FETCH_LIMITS, ...given };
  return async (
    text,
    { method = 'GET', headers = {}, body = null as null | string, signal, anyCertificate = false } = {},
  ) => {
    if (!URL.canParse(text)) throw new GuardedFetchError('url', 'This is not a URL.', { url: text });
    let url = new URL(text);
    const late = new AbortController();
    const timer = setTimeout(() => {
      const message = `The request took longer than ${limits.totalMs} ms in total.`;
      late.abort(new GuardedFetchError('timeout', message, { url: url.href }));
    }, limits.totalMs);
    const ends = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
    try {
      for (let hops = 0; ; hops += 1) {
        const addresses = await unlessAborted(pinnedAddresses(url, policy, resolve), ends);
        const hop = { url, addresses, method, headers, body, limits, signal: ends, anyCertificate, ca };
        const response = await exchangeOnce(hop);
        const next = method === 'GET' ? nextOf(response, url) : null;
        if (next === null) return response;
        if (next.origin !== url.origin)
          throw new GuardedFetchError('redirect', 'It redirects to another origin.', { url: url.href });
        if (hops >= limits.redirects)
          throw new GuardedFetchError('redirect', 'It redirects too many times.', { url: url.href });
        url = next;
      }
    } catch (error) {
      if (error instanceof GuardedFetchError) throw error;
      if (ends.aborted) throw new GuardedFetchError('aborted', 'The fetch was cancelled.', { url: url.href });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function nextOf({ status, headers }: GuardedResponse, url: URL): URL | null {
  const location = headers.get('location');
  if (location === undefined || !REDIRECTS.has(status)) return null;
  if (!URL.canParse(location, url.href))
    throw new GuardedFetchError('redirect', 'It redirects to something that is not a URL.', {
      url: url.href,
    });
  return new URL(location, url);
}

/** The resolver cannot be cancelled, but its result need not be awaited. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = (): void => reject(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  work
    .then(resolve, reject)
    .finally(() => signal.removeEventListener('abort', abort))
    .catch(() => {});
  return promise;
}
