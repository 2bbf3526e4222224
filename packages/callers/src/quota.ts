import { formatTimestamp } from '@tallystick/core';
import type { CounterStore } from '@tallystick/kit';
import {
  type AnswerFact,
  type Incoming,
  type RateWindow,
  type Received,
  Refusal,
  secondsLeft,
} from '@tallystick/kit';
import { callerAccount } from '@tallystick/ledger';
import type { AnchorLog, AnchorResult } from '@tallystick/log';
import type { Tier } from './api-key.ts';
import type { ApiKey } from './credentials.ts';

/** Receipts and hashes the keys of an account may have in a calendar month (UTC), each counted once (specification 2.10). */
const MONTHLY: Readonly<Record<Tier, number | null>> = { pro: 50_000, scale: null, enterprise: null };

/** What the counting of a request needs. `clock` gives Unix milliseconds. */
export interface Counting {
  readonly store: CounterStore;
  readonly log: Pick<AnchorLog, 'accept'>;
  readonly clock: () => number;
}

/** Counts one receipt that is not anchored. @throws quota_exceeded, with `Retry-After` */
export async function countReceipt(
  { store, clock }: Counting,
  key: ApiKey,
  { incoming }: Received,
): Promise<void> {
  const now = clock();
  const month = monthOf(key, now);
  if (month === null) return;
  const { allowed, used } = await store.consume(month.counter, month.limit, month.resetAt);
  if (!allowed) throw exceeded(incoming, month, { used, requested: 1 }, now);
  incoming.note(usedOf(month, used, now));
}

/**
 * Places hashes (32 bytes each) in the log and counts those that it did not have: all of them, or none. Notes what is left.
 * @throws quota_exceeded, with `Retry-After`; anchor_unavailable, unavailable
 */
export async function acceptHashes(
  { log, clock }: Pick<Counting, 'log' | 'clock'>,
  key: ApiKey,
  { incoming }: Received,
  hashes: readonly Uint8Array[],
): Promise<readonly AnchorResult[]> {
  const now = clock();
  const month = monthOf(key, now);
  const quota =
    month === null ? null : { counter: month.counter, limit: month.limit, expiresAt: month.resetAt };
  const outcome = await log.accept(hashes, quota, {
    owner: callerAccount(key.owner),
    key: key.id,
  });
  const { used } = outcome;
  if (outcome.kind === 'accepted') {
    if (month !== null && used !== undefined) incoming.note(usedOf(month, used, now));
    return outcome.results;
  }
  if (month === null) throw new Error('A log without a quota reported that a quota was used up.');
  throw exceeded(incoming, month, outcome, now);
}

interface Month extends RateWindow {
  readonly counter: string;
}

/** The quota of the key's account in the present calendar month, or null where the tier has none. */
function monthOf({ owner, tier }: ApiKey, now: number): Month | null {
  const limit = MONTHLY[tier];
  if (limit === null) return null;
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const resetAt = Date.UTC(year, month + 1) / 1000;
  return {
    name: tier,
    counter: `${tier}:${date.toISOString().slice(0, 7)}:${owner}`,
    limit,
    seconds: resetAt - Date.UTC(year, month) / 1000,
    resetAt,
  };
}

function usedOf(window: Month, used: number, now: number): AnswerFact {
  return { kind: 'rate_limit', window, used, left: secondsLeft(window, now) };
}

function exceeded(
  incoming: Incoming,
  month: Month,
  { used, requested }: { readonly used: number; readonly requested: number },
  now: number,
): Refusal {
  incoming.note(usedOf(month, used, now));
  const left = month.limit - used;
  const state =
    left === 0
      ? `This month’s quota of ${month.limit} receipts and hashes is used up.`
      : `The request needs ${requested} of this month’s quota of ${month.limit} receipts and hashes, and ${left} are left. Nothing was counted.`;
  return new Refusal(
    'quota_exceeded',
    `${state} The next month begins at ${formatTimestamp(month.resetAt * 1000)}.`,
    { retryAfter: secondsLeft(month, now) },
  );
}
