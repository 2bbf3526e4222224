import type { Store } from '../store/store.ts';

const BATCH = 1000;

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
