import { setImmediate } from 'node:timers/promises';
import { PROFILES } from '@tallystick/core';
import { type DocumentStore, type NewReceipt, RollUp } from '@tallystick/kit';
import type { NanoUsdc } from '@tallystick/ledger';
import type { LogStore } from '@tallystick/log';
import { leafHash, listRow, type OwnedReceipt } from './list-row.ts';
import type { ListedReceipt, ReceiptListStore, ScannedReceipt } from './receipt-list.ts';

/** Name of the document that says until when every receipt is listed. */
const DOCUMENT = 'receipt-list';
/** Name of the document that says, for each kind of receipts, at which one a process looked last. It is of use until one has looked at all of them. */
const REACHED = 'receipt-list-reached';
/** Seconds by which a receipt may be stored later than its id says: as long as a stream may take, amply. */
const LATE = 7_200;
/** Seconds for which the row of a stored receipt may still wait in a queue. */
const PENDING = 30;
const SCANNED = 500;
/** Pages of receipts after which it is noted how far they were looked through: a database may have more of them than a process lives. */
const PAGES_NOTED = 200;
/** Rows of one transaction: with SQLite nothing else runs meanwhile. */
const WRITTEN = 200;
/** The first parts of receipt ids; those of one kind sort by time. */
const KINDS = ['env', ...PROFILES, 'sls.metering'];

export interface ListingStore extends DocumentStore {
  readonly receiptList: ReceiptListStore;
  readonly log: Pick<LogStore, 'findLeaf'>;
}

interface StoredReceipt {
  readonly receipt: OwnedReceipt;
  readonly charged: NanoUsdc | null;
}

/**
 * Fills the lists of receipts, away from the requests that issue them: rows wait in memory until `flush` writes them. Rows
 * that were lost with a process, or found no room, are made again from the stored receipts by `complete`.
 */
export class ReceiptListing {
  readonly #queue: RollUp<StoredReceipt>;
  readonly #clock: () => number;
  #store: ListingStore | null = null;
  /** Whether rows were lost: with an earlier process, or dropped. */
  #incomplete = true;
  #closed = false;

  /** @param clock gives Unix milliseconds */
  constructor({
    clock,
    dropped,
  }: { readonly clock: () => number; readonly dropped: (rows: number) => void }) {
    this.#clock = clock;
    this.#queue = new RollUp({
      mostAtOnce: WRITTEN,
      write: (stored) => this.#write(stored),
      dropped: (rows) => {
        this.#incomplete = true;
        dropped(rows);
      },
    });
  }

  /** Takes a receipt that was stored. */
  add(
    { id, owner, key = null, body, profile, issuedAt, expiresAt }: NewReceipt,
    charged: NanoUsdc | null,
  ): void {
    if (owner === undefined || owner === null) return;
    this.#queue.add({ receipt: { id, owner, key, body, profile, issuedAt, expiresAt }, charged });
  }

  /** Says where rows are to be written. */
  open(store: ListingStore): void {
    this.#store = store;
  }

  /** Writes what waits, and the first time what earlier processes left. @throws unavailable; then it waits on */
  async flush(): Promise<void> {
    if (this.#store === null) return;
    await this.#queue.flush();
    if (!this.#incomplete || this.#closed) return;
    await this.complete();
  }

  /** Writes what waits, and ends what `complete` and `forget` do: the next process does it. @throws unavailable */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  /** Makes the rows that stored receipts lack: of all time at first, later since it was done last. */
  async complete(): Promise<void> {
    if (this.#store === null) return;
    this.#incomplete = false;
    try {
      if (!(await this.#complete(this.#store))) this.#incomplete = true;
    } catch (error) {
      this.#incomplete = true;
      throw error;
    }
  }

  /** Takes the receipts that have expired off the lists. */
  async forget(): Promise<void> {
    if (this.#store === null) return;
    const now = Math.floor(this.#clock() / 1_000);
    while ((await this.#store.receiptList.purge(now, WRITTEN)) === WRITTEN && !this.#closed)
      await setImmediate();
  }

  /** Returns false if it was closed before the end. */
  async #complete(store: ListingStore): Promise<boolean> {
    const document = await store.getDocument(DOCUMENT);
    const done = document === null ? null : (JSON.parse(document.body) as { until: number }).until;
    const now = Math.floor(this.#clock() / 1_000);
    const reached = done === null ? await reachedIn(store) : null;
    for (const kind of KINDS) {
      const from = done ?? reached?.secondOf(kind) ?? null;
      const after = `r_${kind}_${from === null ? '' : from - LATE}`;
      await this.#completeKind(store, { after, before: `r_${kind}_${now + 1}` }, (last) =>
        reached?.note(kind, last),
      );
      if (this.#closed) return false;
    }
    const body = JSON.stringify({ until: now - PENDING });
    // Where another process did the same meanwhile, its document stays.
    await store.replaceDocument(DOCUMENT, (document?.version ?? 0) + 1, body);
    return true;
  }

  /** @param note is told now and then up to which receipt all were looked at */
  async #completeKind(
    store: ListingStore,
    range: { after: string; before: string },
    note: (last: string) => Promise<void> | undefined,
  ): Promise<void> {
    let { after } = range;
    for (let page = 1; ; page++) {
      const scanned = await store.receiptList.scan({ after, before: range.before, limit: SCANNED });
      await this.#write(scanned.filter(isUnlisted).map((receipt) => ({ receipt, charged: null })));
      const last = scanned.at(-1);
      if (last === undefined || scanned.length < SCANNED || this.#closed) return;
      after = last.id;
      if (page % PAGES_NOTED === 0) await note(after);
    }
  }

  async #write(stored: readonly StoredReceipt[]): Promise<void> {
    const store = this.#store;
    if (store === null || stored.length === 0) return;
    const rows: ListedReceipt[] = [];
    for (const { receipt, charged } of stored) {
      const row = listRow(receipt, charged);
      rows.push(row.leafIndex === null ? { ...row, leafIndex: await leafOf(store, receipt) } : row);
    }
    await store.receiptList.put(rows);
    await setImmediate();
  }
}

/** How far receipts were looked through by processes that did not come to their end. */
async function reachedIn(store: ListingStore) {
  const document = await store.getDocument(REACHED);
  const last: Record<string, string> = document === null ? {} : JSON.parse(document.body);
  let version = document?.version ?? 0;
  return {
    /** Unix seconds of the last receipt of a kind; null where none was looked at. */
    secondOf(kind: string): number | null {
      const seconds = /_(\d+)_[^_]*$/.exec(last[kind] ?? '')?.[1];
      return seconds === undefined ? null : Number(seconds);
    },
    async note(kind: string, id: string): Promise<void> {
      last[kind] = id;
      version += 1;
      // Where another process does the same meanwhile, its document stays.
      await store.replaceDocument(REACHED, version, JSON.stringify(last));
    },
  };
}

const isUnlisted = (receipt: ScannedReceipt): receipt is OwnedReceipt =>
  receipt.owner !== null && receipt.body !== null;

/** The place of a receipt that has no room for its anchor's reference. */
async function leafOf({ log }: ListingStore, { profile, body }: OwnedReceipt): Promise<number | null> {
  if (profile !== 'nano' && profile !== 'metering') return null;
  return (await log.findLeaf(leafHash(body)))?.index ?? null;
}
