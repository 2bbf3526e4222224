import type {
  ListedReceipt,
  ReceiptCount,
  ReceiptCounting,
  ReceiptFilters,
  ReceiptListStore,
  ReceiptPage,
  ScannedReceipt,
} from '@tallystick/receipts';
import { all } from './database-work.ts';
import { driverOf, isMany, type ReadReceipt, type ReceiptPageValues } from './receipt-list-queries.ts';
import { isCounted } from './receipt-list-rows.ts';
import type { SqlDatabase } from './sql-database.ts';

/** A {@link ReceiptListStore} on a SQL database. */
export class SqlReceiptListStore implements ReceiptListStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async put(rows: readonly ListedReceipt[]): Promise<void> {
    await this.#database.transaction(() => this.#database.receiptListTables.listReceipts(rows), 'remade');
  }

  async page({ before, ...page }: ReceiptPage): Promise<ListedReceipt[]> {
    const { queries, read } = this.#database;
    const values: ReceiptPageValues = { ...page, beforeAt: before.at, beforeId: before.id };
    const driver = driverOf(page, await this.#isRare(page));
    const rows = await read(all(queries.pagesOfReceipts[driver], values));
    return rows.map(rowFrom);
  }

  async counts(counting: ReceiptCounting): Promise<ReceiptCount[]> {
    const { queries, read } = this.#database;
    if (isCounted(counting)) return read(all(queries.keptCountsOfReceipts, counting));
    const driver = driverOf(counting, await this.#isRare(counting));
    return read(all(queries.countsOfReceipts[driver], counting));
  }

  scan(range: { after: string; before: string; limit: number }): Promise<ScannedReceipt[]> {
    return this.#database.read(all(this.#database.queries.scanReceipts, range), 'unhurried');
  }

  purge(now: number, limit: number): Promise<number> {
    return this.#database.transaction(
      () => this.#database.receiptListTables.unlistReceipts({ now, limit }),
      'relaxed',
    );
  }

  /** Whether a range of costs is asked for that few receipts have. */
  async #isRare(values: ReceiptFilters & { readonly owner: string }): Promise<boolean> {
    if (values.minCost === null && values.maxCost === null) return false;
    const [row] = await this.#database.read(all(this.#database.queries.receiptsOfCost, values));
    return !isMany(row?.found ?? 0);
  }
}

function rowFrom({ cost, ...row }: ReadReceipt): ListedReceipt {
  return { ...row, cost: cost === null ? null : BigInt(cost) };
}
