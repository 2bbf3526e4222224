import type { ApiKeyRow } from '@tallystick/callers';
import type { LedgerPosting } from '@tallystick/ledger';
import type {
  OrderRow,
  PayoutAttempt,
  PayoutKind,
  PayoutRow,
  TransferEnding,
  TransferRow,
  TreasuryCursor,
  TreasuryMark,
  TreasuryStore,
  Watched,
} from '@tallystick/payments';
import { all, run, type Work } from './database-work.ts';
import { assertBalanced } from './ledger-books.ts';
import { pages } from './pages.ts';
import type { Queries } from './queries.ts';
import type { RememberedRows } from './remembered-rows.ts';
import type { Slices } from './slices.ts';
import type { SqlDatabase } from './sql-database.ts';
import type { Statement } from './statement.ts';
import * as transactions from './treasury-transactions.ts';
import { Overtaken, Uncovered } from './treasury-transactions.ts';

const PAGE = 200;

/** A {@link TreasuryStore} on a SQL database. */
export class SqlTreasuryStore implements TreasuryStore {
  readonly #database: SqlDatabase;
  readonly #queries: Queries;
  readonly #keys: RememberedRows;
  readonly #slices: Slices;

  /**
   * @param keys rows of API keys, some of which are changed here
   * @param slices of accounts, which payouts may need
   */
  constructor(database: SqlDatabase, keys: RememberedRows, slices: Slices) {
    this.#database = database;
    this.#keys = keys;
    this.#slices = slices;
    this.#queries = database.queries;
  }

  cursors(network: string): Promise<TreasuryCursor[]> {
    return this.#all(this.#queries.cursorsOf, { network });
  }

  async record(
    watched: Watched,
    transfers: readonly TransferRow[],
    move: Parameters<TreasuryStore['record']>[2],
    opening: LedgerPosting | null,
  ): Promise<'recorded' | 'overtaken'> {
    if (opening !== null) assertBalanced(opening.entries);
    return this.#unless(
      () => transactions.record(this.#database, watched, transfers, move, opening),
      'recorded',
    );
  }

  async undecided(network: string, limit: number): Promise<TransferRow[]> {
    return (await this.#all(this.#queries.undecided, { network, limit })).map(transferFrom);
  }

  mark(network: string): Promise<TreasuryMark | null> {
    return this.#first(this.#queries.treasuryMark, { network });
  }

  async putMark(network: string, mark: TreasuryMark): Promise<void> {
    await this.#database.transaction(() => run(this.#queries.putTreasuryMark, { network, ...mark }));
  }

  async end(ending: TransferEnding): Promise<'ended' | 'ended_before' | 'conflict'> {
    if (ending.posting !== null) assertBalanced(ending.posting.entries);
    try {
      return await this.#keys.after(
        this.#database.transaction(() => transactions.end(this.#database, ending)),
      );
    } catch (error) {
      if (error instanceof Overtaken) return 'conflict';
      throw error;
    }
  }

  async openOrder(order: OrderRow): Promise<'opened' | 'taken'> {
    const opened = await this.#database.transaction(() => run(this.#queries.insertOrder, order));
    return opened === 1 ? 'opened' : 'taken';
  }

  async issueOrder(order: OrderRow, apiKey: ApiKeyRow): Promise<OrderRow> {
    await this.#database.transaction(() => transactions.issueOrder(this.#database, order, apiKey));
    const stored = await this.#first(this.#queries.orderByPayment, { payment: order.payment ?? '' });
    if (stored === null) throw new RangeError('A paid order has no payment.');
    return orderFrom(stored);
  }

  async order(id: string): Promise<OrderRow | null> {
    const row = await this.#first(this.#queries.orderById, { id });
    return row && orderFrom(row);
  }

  async openOrderOf(amount: bigint): Promise<OrderRow | null> {
    const row = await this.#first(this.#queries.openOrderOf, { amount });
    return row && orderFrom(row);
  }

  listOpenOrders(): AsyncIterable<OrderRow> {
    return pages(PAGE, async (last: OrderRow | undefined) =>
      (await this.#all(this.#queries.pageOfOpenOrders, after(last))).map(orderFrom),
    );
  }

  async newestOrders(limit: number, next?: Place): Promise<OrderRow[]> {
    return (await this.#all(this.#queries.newestOrders, { ...before(next), limit })).map(orderFrom);
  }

  async takeDue(now: number, until: number): Promise<OrderRow | null> {
    for (;;) {
      const row = await this.#first(this.#queries.dueOrder, { now });
      if (row === null || row.dueAt === null) return null;
      const { id, dueAt } = row;
      const taken = await this.#database.transaction(() =>
        run(this.#queries.takeOrder, { id, dueAt, until }),
      );
      if (taken === 1) return orderFrom({ ...row, attempts: row.attempts + 1, dueAt: until });
    }
  }

  async moveOrder(...[step, taken]: Parameters<TreasuryStore['moveOrder']>): Promise<'moved' | 'overtaken'> {
    const moved = await this.#database.transaction(() =>
      run(this.#queries.moveOrder, {
        ...step,
        attempts: taken.attempts,
        stateBefore: taken.state,
      }),
    );
    return moved === 1 ? 'moved' : 'overtaken';
  }

  async requestPayout(payout: PayoutRow, posting: LedgerPosting): ReturnType<TreasuryStore['requestPayout']> {
    assertBalanced(posting.entries);
    const accounts = posting.entries.map(({ account }) => account);
    return this.#slices.tryWith(accounts, async () => {
      try {
        return await this.#database.transaction(() =>
          transactions.requestPayout(this.#database, payout, posting),
        );
      } catch (error) {
        if (error instanceof Uncovered) return { kind: 'insufficient', available: error.available };
        throw error;
      }
    });
  }

  async payout(id: string): Promise<PayoutRow | null> {
    const row = await this.#first(this.#queries.payoutById, { id });
    return row && payoutFrom(row);
  }

  listOpenPayouts(kind: PayoutKind): AsyncIterable<PayoutRow> {
    return pages(PAGE, async (last: PayoutRow | undefined) => {
      const rows = await this.#all(this.#queries.pageOfOpenPayouts, { kind, ...after(last) });
      return rows.map(payoutFrom);
    });
  }

  async newestPayouts(kind: PayoutKind, limit: number, next?: Place): Promise<PayoutRow[]> {
    return (await this.#all(this.#queries.newestPayouts, { kind, ...before(next), limit })).map(payoutFrom);
  }

  async newestWithdrawals(
    ...[account, { from, before: next, limit }]: Parameters<TreasuryStore['newestWithdrawals']>
  ): Promise<PayoutRow[]> {
    const page = { account, from, ...before(next), limit };
    return (await this.#all(this.#queries.newestWithdrawals, page)).map(payoutFrom);
  }

  async payoutsUnderWay(network: string): Promise<PayoutRow[]> {
    return (await this.#all(this.#queries.payoutsUnderWay, { network })).map(payoutFrom);
  }

  async newestNonce(network: string, sender: string): Promise<number | null> {
    return (await this.#first(this.#queries.newestNonce, { network, sender }))?.nonce ?? null;
  }

  async startPayout(attempt: PayoutAttempt): Promise<'started' | 'overtaken'> {
    try {
      return await this.#unless(() => transactions.startPayout(this.#database, attempt), 'started');
    } catch (error) {
      // Another process has given the nonce to another payout.
      if (this.#database.isRowFault(error)) return 'overtaken';
      throw error;
    }
  }

  addPayoutAttempt(attempt: PayoutAttempt): Promise<'added' | 'overtaken'> {
    return this.#unless(() => transactions.addPayoutAttempt(this.#database, attempt), 'added');
  }

  payoutAttempts(id: string): Promise<PayoutAttempt[]> {
    return this.#all(this.#queries.payoutAttempts, { id });
  }

  endPayout(
    payout: Parameters<TreasuryStore['endPayout']>[0],
    move: Parameters<TreasuryStore['endPayout']>[1],
    posting: LedgerPosting,
  ): Promise<'ended' | 'overtaken'> {
    assertBalanced(posting.entries);
    return this.#unless(() => transactions.endPayout(this.#database, payout, move, posting), 'ended');
  }

  async reopenPayout(id: string, note: string): Promise<'reopened' | 'overtaken'> {
    const reopened = await this.#database.transaction(() => run(this.#queries.reopenPayout, { id, note }));
    return reopened === 1 ? 'reopened' : 'overtaken';
  }

  async #unless<Done>(work: () => Work<void>, done: Done): Promise<Done | 'overtaken'> {
    try {
      await this.#database.transaction(work);
      return done;
    } catch (error) {
      if (error instanceof Overtaken) return 'overtaken';
      throw error;
    }
  }

  #all<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
    return this.#database.read(all(statement, values));
  }

  async #first<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row | null> {
    const [row] = await this.#all(statement, values);
    return row ?? null;
  }
}

type Place = Pick<OrderRow, 'createdAt' | 'id'>;

function after(last: Place | undefined) {
  const { createdAt, id } = last ?? { createdAt: -1, id: '' };
  return { createdAt, id, limit: PAGE };
}

function before(next: Place | undefined): Place {
  const { createdAt, id } = next ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
  return { createdAt, id };
}

type Text<Row> = { [Key in keyof Row]: bigint extends Row[Key] ? string | Extract<Row[Key], null> : unknown };

function transferFrom(row: Text<TransferRow>): TransferRow {
  return { ...row, amount: BigInt(row.amount) } as TransferRow;
}

function orderFrom(row: Text<OrderRow>): OrderRow {
  return { ...row, amount: row.amount === null ? null : BigInt(row.amount) } as OrderRow;
}

function payoutFrom(row: Text<PayoutRow>): PayoutRow {
  return { ...row, amount: BigInt(row.amount) } as PayoutRow;
}
