import { expect, it } from 'vitest';
import type { ListedReceipt, ScannedReceipt } from './receipt-list.ts';
import { type ListingStore, ReceiptListing } from './receipt-listing.ts';

const NOW = 1_000_000;

/** A listing over so many stored receipts that no process looks through them all. */
function listing() {
  const done = { scans: 0, rows: [] as string[], documents: 0 };
  const begun = Promise.withResolvers<void>();
  const store = {
    receiptList: {
      scan: async ({ after, limit }: { after: string; limit: number }) => {
        done.scans += 1;
        begun.resolve();
        return Array.from(
          { length: limit },
          (_, at): ScannedReceipt => ({ id: `${after}.${at}`, owner: null }) as ScannedReceipt,
        );
      },
      put: async (rows: readonly ListedReceipt[]) => void done.rows.push(...rows.map(({ id }) => id)),
      purge: async (_: number, limit: number) => limit,
    },
    getDocument: async () => null,
    replaceDocument: async () => void (done.documents += 1),
  } as unknown as ListingStore;
  const receipts = new ReceiptListing({ clock: () => NOW * 1_000, dropped: () => undefined });
  return { receipts, store, done, begun: begun.promise };
}

it('ends at once when it is closed, writes what waits, and says nothing of what it has not seen', async () => {
  const { receipts, store, done, begun } = listing();
  receipts.open(store);
  const flushed = receipts.flush();
  const forgotten = receipts.forget();
  await begun;
  const body =
    '{"call":{"complete":true},"request":{"purpose":"p","hash":"sha256:ab"},"issued_at":"2027-01-15T08:00:00Z"}';
  receipts.add(
    {
      id: 'r_env_1_a',
      owner: 'caller:a',
      profile: 'standard',
      body,
      issuedAt: 1,
      expiresAt: 2,
      tenant: null,
    },
    null,
  );
  await receipts.close();
  await Promise.all([flushed, forgotten]);
  expect(done.scans).toBeLessThan(3);
  expect(done).toMatchObject({ rows: ['r_env_1_a'], documents: 0 });
});
