import type { GetOutcome } from '../store/receipt-store.ts';
import type { Store } from '../store/store.ts';

const BATCH = 1000;

/**
 * The receipt of an id as it may be read: from the second on at which its retention is over it is `purged`, whether it
 * was deleted by then or not. `now`: Unix milliseconds.
 */
export async function keptReceipt(
  store: Pick<Store, 'getReceipt'>,
  id: string,
  now: number,
): Promise<GetOutcome> {
  const found = await store.getReceipt(id);
  if (found.kind !== 'found' || found.expiresAt > Math.floor(now / 1000)) return found;
  return { kind: 'purged', tenant: found.tenant };
}

/** Deletes what has expired, in small transactions, so that minting goes on meanwhile. `now`: Unix milliseconds. */
export async function purgeExpired(store: Store, now: number): Promise<number> {
  let deleted = 0;
  for (;;) {
    const { receipts, idempotency, counters } = await store.purge(Math.floor(now / 1000), BATCH);
    deleted += receipts;
    const notes = await store.compression.purge(Math.floor(now / 1000), BATCH);
    if (Math.max(receipts, idempotency, counters, notes) < BATCH) return deleted;
  }
}
