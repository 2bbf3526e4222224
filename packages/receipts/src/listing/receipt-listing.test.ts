import { expect, it } from 'vitest';
import type { ListedReceipt, ScannedReceipt } from './receipt-list.ts';
import { type ListingStore, ReceiptListing } from './receipt-listing.ts';

const NOW = 1_800_000_000;

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

it('goes on, after it was closed, from where it had come to', async () => {
  const FIRST = 1_700_000_000;
  const documents = new Map<string, { version: number; body: string }>();
  const asked: string[] = [];
  const stored = Array.from({ length: 150_000 }, (_, at) => `r_env_${FIRST + at}_a`);
  const store = {
    receiptList: {
      scan: async ({ after, before, limit }: { after: string; before: string; limit: number }) => {
        asked.push(after);
        const from = after.startsWith('r_env_') ? stored.findIndex((id) => id > after) : -1;
        const ids = from < 0 ? [] : stored.slice(from, from + limit).filter((id) => id < before);
        return ids.map((id): ScannedReceipt => ({ id, owner: null }) as ScannedReceipt);
      },
    },
    getDocument: async (name: string) => documents.get(name) ?? null,
    replaceDocument: async (name: string, version: number, body: string) =>
      void documents.set(name, { version, body }),
  } as unknown as ListingStore;
  const open = () => {
    const receipts = new ReceiptListing({ clock: () => NOW * 1_000, dropped: () => undefined });
    receipts.open(store);
    return receipts;
  };
  const first = open();
  const scan = store.receiptList.scan.bind(store.receiptList);
  store.receiptList.scan = async (page) => {
    if (asked.length === 250) void first.close();
    return scan(page);
  };
  await first.complete();
  expect(documents.has('receipt-list')).toBe(false);
  asked.length = 0;
  await open().complete();
  // The last page that was noted is the 200th; two hours before it, in case that a receipt was stored late.
  expect(asked[0]).toBe(`r_env_${FIRST + 99_999 - 7_200}`);
  expect(JSON.parse(documents.get('receipt-list')?.body ?? '')).toEqual({ until: NOW - 30 });
});

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
