import type { CounterStore } from '@tallystick/kit';
import { type Received, Refusal, secondsLeft } from '@tallystick/kit';

export interface DailyQuota {
  /** The policy's name in the headers and the counter's in the store: `free-mint`. */
  readonly name: string;
  /** Requests a UTC day and client; 0 turns the quota off. */
  readonly limit: number;
  readonly store: CounterStore;
}

const DAY_SECONDS = 86_400;

/**
 * Counts the request against its client's quota of the present UTC day, and notes what is left of it on whatever is
 * answered. `client` is `Clients.group`; `now` is in Unix milliseconds.
 *
 * @throws rate_limited, with `Retry-After`, when the quota is used up
 */
export async function consumeDaily(
  { name, limit, store }: DailyQuota,
  client: string,
  { incoming }: Received,
  now: number,
): Promise<void> {
  if (limit === 0) return;
  const day = Math.floor(now / 1_000 / DAY_SECONDS);
  const resetAt = (day + 1) * DAY_SECONDS;
  const { allowed, used } = await store.consume(`${name}:${day}:${client}`, limit, resetAt);
  const window = { name, limit, seconds: DAY_SECONDS, resetAt };
  const left = secondsLeft(window, now);
  incoming.note({ kind: 'rate_limit', window, used, left });
  if (allowed) return;
  throw new Refusal(
    'rate_limited',
    `The limit of ${limit} requests a day (UTC) is used up. Try again in ${left} s.`,
    { retryAfter: left },
  );
}
