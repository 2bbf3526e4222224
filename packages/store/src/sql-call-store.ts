import { setImmediate } from 'node:timers/promises';
import type {
  CallCounting,
  CallCounts,
  CallMark,
  CallPage,
  CallStore,
  ListedCall,
  NewCall,
  UnlistedCall,
} from '@tallystick/inference';
import { driverOf, type FilterValues, filterValues, isCostAlone } from './call-filters.ts';
import { isMany, type PageValues, type ReadCall } from './call-queries.ts';
import { countCalls } from './count-calls.ts';
import { all, run } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Rows of the list that are looked through at a time for costs of a range: few at first, since a page may be full soon. */
const FIRST_SLICE = 500;
const SLICE = 20_000;
const GROWTH = 4;

/** A {@link CallStore} on a SQL database. */
export class SqlCallStore implements CallStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  put(calls: readonly NewCall[]): Promise<void> {
    return this.#database.transaction(() => this.#database.callTables.putCalls(calls), 'remade');
  }

  async page(page: CallPage): Promise<ListedCall[]> {
    const { queries, read } = this.#database;
    const { owner, from, before, limit, ...filters } = page;
    const filtered = filterValues(owner, filters);
    const driver = driverOf(filters, await this.#isRare(filtered));
    const values = { ...filtered, from, beforeAt: before.at, beforeId: before.id, limit };
    if (driver === 'time' && isCostGiven(filtered)) return this.#pageInSlices(values);
    const statement = queries.pagesOfCalls[driver === 'cost' && isCostAlone(filters) ? 'costAlone' : driver];
    const rows = await read(all(statement, values));
    return rows.map(rowFrom);
  }

  /**
   * Reads a page in the order of time by parts of the list, between which the process does other work: if all costs in
   * the range lie far back, millions of rows come before them.
   */
  async #pageInSlices(values: PageValues): Promise<ListedCall[]> {
    const { queries, read } = this.#database;
    const found: ListedCall[] = [];
    let slice = FIRST_SLICE;
    for (let { beforeAt, beforeId } = values; ; beforeId = '') {
      const to = beforeId === '' ? beforeAt : beforeAt + 1;
      const [edge] = await read(all(queries.edgesOfCalls.time, { ...values, to, rows: slice }));
      const from = edge?.at ?? values.from;
      const limit = values.limit - found.length;
      const rows = await read(all(queries.pagesOfCalls.time, { ...values, from, beforeAt, beforeId, limit }));
      found.push(...rows.map(rowFrom));
      if (edge === undefined || found.length === values.limit) return found;
      beforeAt = from;
      slice = Math.min(slice * GROWTH, SLICE);
      await setImmediate();
    }
  }

  async counts(counting: CallCounting): Promise<CallCounts> {
    return countCalls(this.#database, counting, () => this.#isRare(filterValues(counting.owner, counting)));
  }

  async find(owner: string, id: string): Promise<{ row: ListedCall; detail: string | null } | null> {
    const [found] = await this.#database.read(all(this.#database.queries.callById, { owner, id }));
    if (found === undefined) return null;
    const { detail, ...row } = found;
    return { row: rowFrom(row), detail };
  }

  unlisted(range: { after: string; before: string; limit: number }): Promise<UnlistedCall[]> {
    return this.#database.read(all(this.#database.queries.unlistedCalls, range));
  }

  purge(before: number, limit: number): Promise<number> {
    return this.#database.transaction(
      () => this.#database.callTables.purgeCalls({ before, limit }),
      'relaxed',
    );
  }

  async mark(mark: CallMark): Promise<void> {
    await this.#database.transaction(() => run(this.#database.queries.markCallWriter, mark), 'relaxed');
  }

  async unmark(process: string): Promise<void> {
    await this.#database.transaction(() => run(this.#database.queries.endCallWriter, { process }), 'relaxed');
  }

  abandoned(): Promise<CallMark[]> {
    return this.#database.read(all(this.#database.queries.abandonedCallWriters, {}));
  }

  /** Whether a range of costs is asked for that few calls have. */
  async #isRare(values: FilterValues): Promise<boolean> {
    if (!isCostGiven(values)) return false;
    const [row] = await this.#database.read(all(this.#database.queries.callsOfCost, values));
    return !isMany(row?.found ?? 0);
  }
}

const isCostGiven = ({ minCost, maxCost }: FilterValues): boolean => minCost !== null || maxCost !== null;

function rowFrom({ cost, saving, ...row }: ReadCall): ListedCall {
  return { ...row, cost: BigInt(cost), saving: BigInt(saving) };
}
