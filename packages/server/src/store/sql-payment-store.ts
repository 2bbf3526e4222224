import { type Kysely, sql } from 'kysely';
import { asText } from './ledger-queries.ts';
import type { ChannelRow, PaymentRow, PaymentState, PaymentStep, PaymentStore } from './payment-store.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';
import { statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

/** A {@link PaymentStore} on a SQL database. */
export class SqlPaymentStore implements PaymentStore {
  readonly #database: SqlDatabase;
  readonly #queries: PaymentQueries;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#queries = database.queries;
  }

  begin(row: PaymentRow): Promise<PaymentRow | null> {
    return this.#database.transaction(begin(this.#queries, row));
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
    return (await this.#database.transaction(run(this.#queries.stepPayment, values))) === 1;
  }

  openOf(payer: string): Promise<PaymentRow[]> {
    return this.#rows(all(this.#queries.openPaymentsOf, { payer }));
  }

  abandoned(now: number, limit: number): Promise<PaymentRow[]> {
    return this.#rows(all(this.#queries.abandonedPayments, { now, limit }));
  }

  async channel(id: string): Promise<ChannelRow | null> {
    const [row] = await this.#database.read(all(this.#queries.channelById, { id }));
    return row === undefined ? null : channelFrom(row);
  }

  async putChannel(row: ChannelRow): Promise<boolean> {
    const put = row.version === 1 ? this.#queries.insertChannel : this.#queries.replaceChannel;
    const values = { ...row, previous: row.version - 1 };
    return (await this.#database.transaction(run(put, values))) === 1;
  }

  async deleteChannel(id: string, version: number): Promise<boolean> {
    return (await this.#database.transaction(run(this.#queries.deleteChannel, { id, version }))) === 1;
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

/** Looks again where another one of the same id or identifier comes in between. */
function* begin(queries: PaymentQueries, row: PaymentRow): Work<PaymentRow | null> {
  if ((yield* run(queries.insertPayment, row)) === 1) return null;
  const [same] = yield* all(queries.paymentById, row);
  if (same !== undefined) return paymentFrom(same);
  const [named] = yield* all(queries.paymentByIdentifier, { identifier: row.identifier ?? '' });
  if (named === undefined) throw new RangeError('A payment was refused although nothing conflicts with it.');
  return paymentFrom(named);
}

export function paymentQueries(db: Kysely<Schema>) {
  return { ...queriesOfPayments(db), ...queriesOfChannels(db) };
}

function queriesOfPayments(db: Kysely<Schema>) {
  const payments = db
    .selectFrom('x402_payments')
    .select([
      'id',
      'identifier',
      'scheme',
      'payer',
      asText('amount').as('amount'),
      asText('charged').as('charged'),
      'request_hash as requestHash',
      'detail',
      'state',
      'tx_hash as tx',
      'receipt_id as receiptId',
      'lease_until as leaseUntil',
      'created_at as createdAt',
    ]);
  return {
    insertPayment: statement((v: PaymentRow) =>
      db
        .insertInto('x402_payments')
        .values({
          id: v.id,
          identifier: v.identifier,
          scheme: v.scheme,
          payer: v.payer,
          amount: v.amount,
          charged: v.charged,
          request_hash: v.requestHash,
          detail: v.detail,
          state: v.state,
          tx_hash: v.tx,
          receipt_id: v.receiptId,
          lease_until: v.leaseUntil,
          created_at: v.createdAt,
        })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    paymentById: statement((v: { id: string }) => payments.where('id', '=', v.id)),
    paymentByIdentifier: statement((v: { identifier: string }) =>
      payments.where('identifier', '=', v.identifier),
    ),
    paymentsByTx: statement((v: { tx: string }) => payments.where('tx_hash', '=', v.tx)),
    openPaymentsOf: statement((v: { payer: string }) =>
      payments
        .where('payer', '=', v.payer)
        .where('state', 'in', OPEN)
        .orderBy('lease_until', 'desc')
        .limit(sql.lit(100)),
    ),
    abandonedPayments: statement((v: { now: number; limit: number }) =>
      payments
        .where('state', 'in', [sql.lit('settling'), sql.lit('serving')])
        .where('lease_until', '<=', v.now)
        .orderBy('lease_until')
        .limit(v.limit),
    ),
    stepPayment: statement((v: PaymentRow & { fromState: string; fromLease: number }) =>
      db
        .updateTable('x402_payments')
        .set({
          state: v.state,
          tx_hash: v.tx,
          receipt_id: v.receiptId,
          charged: v.charged,
          lease_until: v.leaseUntil,
          identifier: v.identifier,
          request_hash: v.requestHash,
          detail: v.detail,
          amount: v.amount,
        })
        .where('id', '=', v.id)
        .where('state', '=', v.fromState)
        .where('lease_until', '=', v.fromLease),
    ),
  };
}

const OPEN = ['settling', 'serving', 'owed', 'failed'].map((state) => sql.lit(state));

function queriesOfChannels(db: Kysely<Schema>) {
  const channels = db
    .selectFrom('x402_channels')
    .select(['id', 'version', asText('claimable').as('claimable'), 'document']);
  return {
    channelById: statement((v: { id: string }) => channels.where('id', '=', v.id)),
    insertChannel: statement((v: ChannelRow) =>
      db
        .insertInto('x402_channels')
        .values({ id: v.id, version: v.version, claimable: v.claimable, document: v.document })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    replaceChannel: statement((v: ChannelRow & { previous: number }) =>
      db
        .updateTable('x402_channels')
        .set({ version: v.version, claimable: v.claimable, document: v.document })
        .where('id', '=', v.id)
        .where('version', '=', v.previous),
    ),
    deleteChannel: statement((v: { id: string; version: number }) =>
      db.deleteFrom('x402_channels').where('id', '=', v.id).where('version', '=', v.version),
    ),
    claimableChannels: statement((v: { after: string; limit: number }) =>
      channels
        .where('claimable', '>', sql.lit(0n) as never)
        .where('id', '>', v.after)
        .orderBy('id')
        .limit(v.limit),
    ),
  };
}

export type PaymentQueries = ReturnType<typeof paymentQueries>;
