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

const DAY_SECONDS = 86_400;

/**
 * Counts the request against its client's quota of the present UTC day, and sets `RateLimit-Policy` and
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers) on whatever is answered. `client` is `Clients.group`;
 * `now` is in Unix milliseconds.
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
  const seconds = now / 1_000;
  const day = Math.floor(seconds / DAY_SECONDS);
  const midnight = (day + 1) * DAY_SECONDS;
  const { allowed, used } = await store.consume(`${name}:${day}:${client}`, limit, midnight);
  const left = Math.ceil(midnight - seconds);
  exchange.headers['ratelimit-policy'] = `"${name}";q=${limit};w=${DAY_SECONDS}`;
  exchange.headers['ratelimit'] = `"${name}";r=${Math.max(0, limit - used)};t=${left}`;
  if (allowed) return;
  exchange.headers['retry-after'] = String(left);
  throw new TallyError(
    'rate_limited',
    `The ${limit} requests of this UTC day are used up. Try again in ${left} s.`,
  );
}
