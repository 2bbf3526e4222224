import { TallyError } from '@tallystick/core';
import type { Store } from '../store/store.ts';
import type { Exchange } from './exchange.ts';

export interface DailyQuota {
  /** The policy's name in the headers and the counter's in the store: `free-mint`. */
  readonly name: string;
  /** Requests a UTC day and client; 0 turns the quota off. */
  readonly limit: number;
  readonly store: Pick<Store, 'consume'>;
}

/** So much in a window of time. */
export interface RateWindow {
  readonly name: string;
  readonly limit: number;
  /** How long the window is, in seconds. */
  readonly seconds: number;
  /** Unix seconds at which the next one begins. */
  readonly resetAt: number;
}

const DAY_SECONDS = 86_400;

/**
 * Counts the request against its client's quota of the present UTC day, and sets `RateLimit-Policy` and
 * `RateLimit` on whatever is answered. `client` is `Clients.group`; `now` is in Unix milliseconds.
 *
 * @throws rate_limited, with `Retry-After`, when the quota is used up
 */
export async function consumeDaily(
  { name, limit, store }: DailyQuota,
  client: string,
  exchange: Pick<Exchange, 'headers'>,
  now: number,
): Promise<void> {
  if (limit === 0) return;
  const day = Math.floor(now / 1_000 / DAY_SECONDS);
  const resetAt = (day + 1) * DAY_SECONDS;
  const { allowed, used } = await store.consume(`${name}:${day}:${client}`, limit, resetAt);
  const left = showRateLimit(exchange, { name, limit, seconds: DAY_SECONDS, resetAt }, used, now);
  if (allowed) return;
  exchange.headers['retry-after'] = String(left);
  throw new TallyError(
    'rate_limited',
    `The limit of ${limit} requests a day (UTC) is used up. Try again in ${left} s.`,
  );
}

/**
 * Sets `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers). `now` is in Unix milliseconds.
 * @returns seconds until the next window, rounded up
 */
export function showRateLimit(
  { headers }: Pick<Exchange, 'headers'>,
  { name, limit, seconds, resetAt }: RateWindow,
  used: number,
  now: number,
): number {
  const left = Math.ceil(resetAt - now / 1_000);
  headers['ratelimit-policy'] = `"${name}";q=${limit};w=${seconds}`;
  headers['ratelimit'] = `"${name}";r=${Math.max(0, limit - used)};t=${left}`;
  return left;
}
