import type {
  Cursor,
  OrderPaid,
  OrderRow,
  OrderStep,
  PayoutAttempt,
  PayoutKind,
  PayoutRow,
  Renewal,
  TransferRow,
  TreasuryMark,
  Watched,
} from '@tallystick/payments';
import { type Kysely, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { asText } from './ledger-queries.ts';
import type { Schema } from './schema.ts';
import { statement } from './statement.ts';

/** The treasury's statements. Few rows are written at once, so all databases share them. */
export function treasuryQueries(db: Kysely<Schema>, dialect: TreasuryDialect) {
  return {
    ...transferQueries(db),
    ...orderQueries(db, dialect),
    ...payoutQueries(db, dialect),
    ...attemptQueries(db),
  };
}

type TreasuryDialect = Pick<Dialect, 'indexedBy'>;

/** Selects the payouts that are `waiting` or `paying`. They are few, and have an index of their own. */
export function openPayouts(db: Kysely<Schema>, { indexedBy }: TreasuryDialect) {
  return db
    .selectFrom(sql<Schema['payouts']>`payouts`.as<'payouts'>(sql`payouts ${indexedBy('payouts_open')}`))
    .where('state', 'in', [sql.lit('waiting'), sql.lit('paying')]);
}

function transferQueries(db: Kysely<Schema>) {
  const transfers = db
    .selectFrom('transfers')
    .select([
      'id',
      'network',
      'tx_hash as txHash',
      'ordinal',
      'height',
      'block_hash as blockHash',
      'block_time as blockTime',
      'sender',
      asText('amount').as('amount'),
      'memo',
      'seen_at as seenAt',
    ]);
  return {
    cursorsOf: statement((v: { network: string }) =>
      db
        .selectFrom('transfer_cursors')
        .select(['treasury', 'height', 'block_hash as blockHash', 'first_height as firstHeight'])
        .where('network', '=', v.network)
        .orderBy('treasury'),
    ),
    startCursor: statement((v: Watched & Cursor) =>
      db
        .insertInto('transfer_cursors')
        .values({
          network: v.network,
          treasury: v.treasury,
          height: v.height,
          block_hash: v.blockHash,
          first_height: v.height,
        })
        .onConflict((conflict) => conflict.columns(['network', 'treasury']).doNothing()),
    ),
    moveCursor: statement((v: Watched & { from: number; fromHash: string } & Cursor) =>
      db
        .updateTable('transfer_cursors')
        .set({ height: v.height, block_hash: v.blockHash })
        .where('network', '=', v.network)
        .where('treasury', '=', v.treasury)
        .where('height', '=', v.from)
        .where('block_hash', '=', v.fromHash),
    ),
    treasuryMark: statement((v: { network: string }) =>
      db
        .selectFrom('treasury_marks')
        .select(['height', 'block_hash as blockHash', 'state'])
        .where('network', '=', v.network),
    ),
    putTreasuryMark: statement((v: { network: string } & TreasuryMark) =>
      db
        .insertInto('treasury_marks')
        .values({ network: v.network, height: v.height, block_hash: v.blockHash, state: v.state })
        .onConflict((conflict) =>
          conflict.column('network').doUpdateSet((row) => ({
            height: row.ref('excluded.height'),
            block_hash: row.ref('excluded.block_hash'),
            state: row.ref('excluded.state'),
          })),
        ),
    ),
    insertTransfer: statement((v: TransferRow) =>
      db
        .insertInto('transfers')
        .values({
          id: v.id,
          network: v.network,
          tx_hash: v.txHash,
          ordinal: v.ordinal,
          height: v.height,
          block_hash: v.blockHash,
          block_time: v.blockTime,
          sender: v.sender,
          amount: v.amount,
          memo: v.memo,
          seen_at: v.seenAt,
        })
        .onConflict((conflict) => conflict.column('id').doNothing()),
    ),
    undecided: statement((v: { network: string; limit: number }) =>
      transfers
        .where('outcome', 'is', null)
        .where('network', '=', v.network)
        .orderBy('height')
        .orderBy('id')
        .limit(v.limit),
    ),
    endTransfer: statement((v: { transfer: string; outcome: string; reference: string; at: number }) =>
      db
        .updateTable('transfers')
        .set({ outcome: v.outcome, reference: v.reference, ended_at: v.at })
        .where('id', '=', v.transfer)
        .where('outcome', 'is', null),
    ),
  };
}

function orderQueries(db: Kysely<Schema>, { indexedBy }: TreasuryDialect) {
  const columns = [
    'id',
    'kind',
    'state',
    'tier',
    'months',
    'contact',
    'did',
    'account',
    asText('amount').as('amount'),
    'payment',
    'created_at as createdAt',
    'expires_at as expiresAt',
    'api_key as apiKey',
    'paid_until as paidUntil',
    'seed',
    'sealed',
    'attempts',
    'due_at as dueAt',
    'problem',
    'delivered_at as deliveredAt',
  ] as const;
  const orders = db.selectFrom('orders').select(columns);
  return {
    insertOrder: statement((v: OrderRow) =>
      db
        .insertInto('orders')
        .values({
          id: v.id,
          kind: v.kind,
          state: v.state,
          tier: v.tier,
          months: v.months,
          contact: v.contact,
          did: v.did,
          account: v.account,
          amount: v.amount,
          payment: v.payment,
          created_at: v.createdAt,
          expires_at: v.expiresAt,
          api_key: v.apiKey,
          paid_until: v.paidUntil,
          seed: v.seed,
          sealed: v.sealed,
          attempts: v.attempts,
          due_at: v.dueAt,
          problem: v.problem,
          delivered_at: v.deliveredAt,
        })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    orderById: statement((v: { id: string }) => orders.where('id', '=', v.id)),
    orderByPayment: statement((v: { payment: string }) => orders.where('payment', '=', v.payment)),
    openOrderOf: statement((v: { amount: bigint }) =>
      orders.where('amount', '=', v.amount).where('state', '=', sql.lit('open')),
    ),
    pageOfOpenOrders: statement((v: { createdAt: number; id: string; limit: number }) =>
      db
        .selectFrom(sql<Schema['orders']>`orders`.as<'orders'>(sql`orders ${indexedBy('orders_waiting')}`))
        .select(columns)
        .where(
          'state',
          'in',
          ['open', 'delivering', 'undeliverable'].map((state) => sql.lit(state)),
        )
        .where((order) => order(order.refTuple('created_at', 'id'), '>', order.tuple(v.createdAt, v.id)))
        .orderBy('created_at')
        .orderBy('id')
        .limit(v.limit),
    ),
    newestOrders: statement((v: { createdAt: number; id: string; limit: number }) =>
      orders
        .where((order) => order(order.refTuple('created_at', 'id'), '<', order.tuple(v.createdAt, v.id)))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(v.limit),
    ),
    dueOrder: statement((v: { now: number }) =>
      orders.where('due_at', '<=', v.now).orderBy('due_at').orderBy('id').limit(sql.lit(1)),
    ),
    takeOrder: statement((v: { id: string; dueAt: number; until: number }) =>
      db
        .updateTable('orders')
        .set({ due_at: v.until, attempts: sql`attempts + 1` })
        .where('id', '=', v.id)
        .where('due_at', '=', v.dueAt),
    ),
    moveOrder: statement((v: OrderStep & { attempts: number; stateBefore: OrderRow['state'] }) =>
      db
        .updateTable('orders')
        .set({
          state: v.state,
          contact: v.contact,
          seed: v.seed,
          sealed: v.sealed,
          due_at: v.dueAt,
          problem: v.problem,
          delivered_at: v.deliveredAt,
        })
        .where('id', '=', v.id)
        .where('attempts', '=', v.attempts)
        // A payment begins the attempts anew, so their number alone may be another time's.
        .where('state', '=', v.stateBefore),
    ),
    payOrder: statement((v: OrderPaid) =>
      db
        .updateTable('orders')
        .set({
          state: v.state,
          payment: v.payment,
          api_key: v.apiKey,
          paid_until: v.paidUntil,
          seed: v.seed,
          due_at: v.dueAt,
          // These are the attempts to deliver; whoever has taken the open order is overtaken.
          attempts: sql.lit(0),
        })
        .where('id', '=', v.id)
        .where('state', '=', sql.lit('open')),
    ),
    renewApiKey: statement((v: Renewal) =>
      db
        .updateTable('api_keys')
        .set({ expires_at: v.to })
        .where('id', '=', v.id)
        .where('expires_at', '=', v.from)
        .where('revoked_at', 'is', null),
    ),
  };
}

function payoutQueries(db: Kysely<Schema>, dialect: TreasuryDialect) {
  const columns = [
    'id',
    'kind',
    'state',
    'network',
    'account',
    'address',
    asText('amount').as('amount'),
    'reason',
    'transfer',
    'created_at as createdAt',
    'sender',
    'nonce',
    'tx_hash as txHash',
    'height',
    'note',
    'ended_at as endedAt',
  ] as const;
  const payouts = db.selectFrom('payouts').select(columns);
  const open = openPayouts(db, dialect).select(columns);
  return {
    insertPayout: statement((v: PayoutRow) =>
      db
        .insertInto('payouts')
        .values({
          id: v.id,
          kind: v.kind,
          state: v.state,
          network: v.network,
          account: v.account,
          address: v.address,
          amount: v.amount,
          reason: v.reason,
          transfer: v.transfer,
          created_at: v.createdAt,
          note: v.note,
        })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    payoutById: statement((v: { id: string }) => payouts.where('id', '=', v.id)),
    pageOfOpenPayouts: statement((v: { kind: PayoutKind; createdAt: number; id: string; limit: number }) =>
      open
        .where('kind', '=', v.kind)
        .where((payout) => payout(payout.refTuple('created_at', 'id'), '>', payout.tuple(v.createdAt, v.id)))
        .orderBy('created_at')
        .orderBy('id')
        .limit(v.limit),
    ),
    newestPayouts: statement((v: { kind: PayoutKind; createdAt: number; id: string; limit: number }) =>
      payouts
        .where('kind', '=', v.kind)
        .where((payout) => payout(payout.refTuple('created_at', 'id'), '<', payout.tuple(v.createdAt, v.id)))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(v.limit),
    ),
    newestWithdrawals: statement(
      (v: { account: string; from: number; createdAt: number; id: string; limit: number }) =>
        payouts
          .where('account', '=', v.account)
          .where('kind', '=', sql.lit('withdrawal'))
          .where('created_at', '>=', v.from)
          .where((payout) =>
            payout(payout.refTuple('created_at', 'id'), '<', payout.tuple(v.createdAt, v.id)),
          )
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(v.limit),
    ),
    payoutsUnderWay: statement((v: { network: string }) =>
      open.where('state', '=', sql.lit('paying')).where('network', '=', v.network).orderBy('nonce'),
    ),
    startPayout: statement((v: { payout: string; sender: string; nonce: number }) =>
      db
        .updateTable('payouts')
        .set({ state: sql.lit('paying'), sender: v.sender, nonce: v.nonce, note: sql.lit(null) })
        .where('id', '=', v.payout)
        .where('state', '=', sql.lit('waiting')),
    ),
    endPayout: statement(
      (v: {
        id: string;
        from: string;
        to: string;
        txHash: string | null;
        height: number | null;
        note: string | null;
        at: number;
      }) =>
        db
          .updateTable('payouts')
          .set({ state: v.to, tx_hash: v.txHash, height: v.height, note: v.note, ended_at: v.at })
          .where('id', '=', v.id)
          .where('state', '=', v.from),
    ),
    reopenPayout: statement((v: { id: string; note: string }) =>
      db
        .updateTable('payouts')
        .set({ state: sql.lit('waiting'), sender: sql.lit(null), nonce: sql.lit(null), note: v.note })
        .where('id', '=', v.id)
        .where('state', '=', sql.lit('paying')),
    ),
  };
}

function attemptQueries(db: Kysely<Schema>) {
  return {
    newestNonce: statement((v: { network: string; sender: string }) =>
      db
        .selectFrom('payout_attempts')
        .select('nonce')
        .where('sender', '=', v.sender)
        .where((attempt) =>
          attempt.exists(
            attempt
              .selectFrom('payouts')
              .select('payouts.id')
              .whereRef('payouts.id', '=', 'payout_attempts.payout')
              .where('payouts.network', '=', v.network),
          ),
        )
        .orderBy('nonce', 'desc')
        .limit(sql.lit(1)),
    ),
    insertPayoutAttempt: statement((v: PayoutAttempt & { attempt: number }) =>
      db.insertInto('payout_attempts').values({
        payout: v.payout,
        attempt: v.attempt,
        sender: v.sender,
        nonce: v.nonce,
        tx_hash: v.txHash,
        raw: v.raw,
        max_fee_per_gas: v.maxFeePerGas,
        max_priority_fee_per_gas: v.maxPriorityFeePerGas,
        created_at: v.createdAt,
      }),
    ),
    payoutAttempts: statement((v: { id: string }) =>
      db
        .selectFrom('payout_attempts')
        .select([
          'payout',
          'sender',
          'nonce',
          'tx_hash as txHash',
          'raw',
          'max_fee_per_gas as maxFeePerGas',
          'max_priority_fee_per_gas as maxPriorityFeePerGas',
          'created_at as createdAt',
        ])
        .where('payout', '=', v.id)
        .orderBy('attempt'),
    ),
  };
}
