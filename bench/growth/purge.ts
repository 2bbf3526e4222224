import { randomBytes } from 'node:crypto';
import { purgeExpired } from '../../packages/receipts/src/index.ts';
import type { BenchDatabase } from '../lists/databases.ts';
import { receiptOf } from '../lists/rows.ts';
import { type Filled, putBodies } from './fill.ts';

/** Number of receipts that are purged at once. */
export const PURGED = 1_000;

/** Writes receipts that are as old as the oldest, and have expired; returns the milliseconds in which they are purged, as a service does it. */
export async function timeOfPurge(
  { shape, receipt }: Filled,
  database: Pick<BenchDatabase, 'open'>,
): Promise<number> {
  const store = await database.open();
  try {
    const expiresAt = Math.floor(shape.until / 1_000);
    await purgeExpired(store, Date.now());
    const expired = Array.from({ length: PURGED }, (_, index) => {
      const old = receiptOf(index, shape);
      return { ...old, id: old.id.replace(/[^_]+$/, randomBytes(6).toString('hex')), expiresAt };
    });
    await putBodies(store, expired, receipt);
    const began = performance.now();
    const purged = await purgeExpired(store, Date.now());
    if (purged !== PURGED) throw new Error(`${purged} receipts were purged, not ${PURGED}.`);
    return performance.now() - began;
  } finally {
    await store.close();
  }
}
