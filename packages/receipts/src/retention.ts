import { setImmediate } from 'node:timers/promises';
import type { GetOutcome, ReceiptStore } from './receipt-store.ts';

/** Rows that are deleted at once: with SQLite nothing else runs meanwhile. */
const BATCH = 250;

/**
 * The receipt of an id as it may be read: from the second on at which its retention is over it is `purged`, whether it
 * was deleted by then or not. `now`: Unix milliseconds.
 */
export async function keptReceipt(
  store: Pick<ReceiptStore, 'getReceipt'>,
  id: string,
  now: number,
): Promise<GetOutcome> {
  const found = await store.getReceipt(id);
  if (found.kind !== 'found' || found.expiresAt > Math.floor(now / 1000)) return found;
  return { kind: 'purged', tenant: found.tenant };
}

/** What else expires and is deleted in steps: at most `limit` rows at once, and how many they were. */
export type PurgeStep = (now: number, limit: number) => Promise<number>;

/**
 * Deletes what has expired, in small transactions, so that minting goes on meanwhile. `now`: Unix milliseconds.
 * @param others what other domains keep for a time, in Unix seconds too
 * @param signal ends it after the transactions under way
 */
export async function purgeExpired(
  store: Pick<ReceiptStore, 'purge'>,
  now: number,
  others: readonly PurgeStep[] = [],
  signal?: AbortSignal,
): Promise<number> {
  const seconds = Math.floor(now / 1000);
  let deleted = 0;
  for (;;) {
    const { receipts, idempotency, counters } = await store.purge(seconds, BATCH);
    deleted += receipts;
    const further = await Promise.all(others.map((step) => step(seconds, BATCH)));
    if (signal?.aborted === true || Math.max(receipts, idempotency, counters, ...further) < BATCH)
      return deleted;
    // With SQLite a step ends in the turn in which it began, and requests would wait for all of them.
    await setImmediate();
  }
}
