import type { ChannelRow, PaymentRow, PaymentState, PaymentStep, PaymentStore } from '@tallystick/payments';
import { all, run, type Work } from './database-work.ts';
import type { PaymentQueries } from './payment-queries.ts';
import type { SqlDatabase } from './sql-database.ts';

/** A {@link PaymentStore} on a SQL database. */
export class SqlPaymentStore implements PaymentStore {
  readonly #database: SqlDatabase;
  readonly #queries: PaymentQueries;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#queries = database.queries;
  }

  begin(row: PaymentRow): Promise<PaymentRow | null> {
    return this.#database.transaction(() => begin(this.#queries, row));
  }

  find(id: string): Promise<PaymentRow | null> {
    return this.#first(all(this.#queries.paymentById, { id }));
  }

  findByIdentifier(identifier: string): Promise<PaymentRow | null> {
    return this.#first(all(this.#queries.paymentByIdentifier, { identifier }));
  }

  findByTx(tx: string): Promise<PaymentRow[]> {
    return this.#rows(all(this.#queries.paymentsByTx, { tx }));
  }

  async step(seen: PaymentRow, step: PaymentStep): Promise<boolean> {
    const { id, state: fromState, leaseUntil: fromLease } = seen;
    const values = { ...seen, ...step, id, fromState, fromLease };
    return (await this.#database.transaction(() => run(this.#queries.stepPayment, values))) === 1;
  }

  openOf(payer: string): Promise<PaymentRow[]> {
    return this.#rows(all(this.#queries.openPaymentsOf, { payer }));
  }

  abandoned(now: number, limit: number): Promise<PaymentRow[]> {
    return this.#rows(all(this.#queries.abandonedPayments, { now, limit }));
  }

  purge(before: number, limit: number): Promise<number> {
    return this.#database.transaction(() => run(this.#queries.purgePayments, { before, limit }), 'relaxed');
  }

  async channel(id: string): Promise<ChannelRow | null> {
    const [row] = await this.#database.read(all(this.#queries.channelById, { id }));
    return row === undefined ? null : channelFrom(row);
  }

  async putChannel(row: ChannelRow): Promise<boolean> {
    const write = row.version === 1 ? this.#queries.insertChannel : this.#queries.replaceChannel;
    const values = { ...row, previous: row.version - 1 };
    return (await this.#database.transaction(() => run(write, values))) === 1;
  }

  async deleteChannel(id: string, version: number): Promise<boolean> {
    return (await this.#database.transaction(() => run(this.#queries.deleteChannel, { id, version }))) === 1;
  }

  async claimable(after: string, limit: number): Promise<ChannelRow[]> {
    return (await this.#database.read(all(this.#queries.claimableChannels, { after, limit }))).map(
      channelFrom,
    );
  }

  async #first(work: Work<Selected[]>): Promise<PaymentRow | null> {
    return (await this.#rows(work))[0] ?? null;
  }

  async #rows(work: Work<Selected[]>): Promise<PaymentRow[]> {
    return (await this.#database.read(work)).map(paymentFrom);
  }
}

type Selected = Omit<PaymentRow, 'amount' | 'charged' | 'state'> & {
  readonly amount: string;
  readonly charged: string;
  readonly state: string;
};

function paymentFrom(row: Selected): PaymentRow {
  return {
    ...row,
    amount: BigInt(row.amount),
    charged: BigInt(row.charged),
    state: row.state as PaymentState,
  };
}

function channelFrom(row: Omit<ChannelRow, 'claimable'> & { readonly claimable: string }): ChannelRow {
  return { ...row, claimable: BigInt(row.claimable) };
}

/** Begins a payment. Tries again if another one of the same id or identifier comes in between. */
function* begin(queries: PaymentQueries, row: PaymentRow): Work<PaymentRow | null> {
  if ((yield* run(queries.insertPayment, row)) === 1) return null;
  const [same] = yield* all(queries.paymentById, row);
  if (same !== undefined) return paymentFrom(same);
  const [named] = yield* all(queries.paymentByIdentifier, { identifier: row.identifier ?? '' });
  if (named === undefined) throw new RangeError('A payment is refused that nothing stands against.');
  return paymentFrom(named);
}
