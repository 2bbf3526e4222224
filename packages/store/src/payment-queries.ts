import type { ChannelRow, PaymentRow } from '@tallystick/payments';
import { sql } from 'kysely';
import { asText } from './ledger-queries.ts';
import { type Compiler, statement } from './statement.ts';

export function paymentQueries(db: Compiler) {
  return { ...queriesOfPayments(db), ...queriesOfChannels(db) };
}

function queriesOfPayments(db: Compiler) {
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
    purgePayments: statement((v: { before: number; limit: number }) =>
      db
        .deleteFrom('x402_payments')
        .where('id', 'in', (query) =>
          query
            .selectFrom('x402_payments')
            .select('id')
            .where('state', 'in', OVER)
            .where('created_at', '<', v.before)
            .orderBy('created_at')
            .limit(v.limit),
        ),
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
const OVER = ['settled', 'delivered', 'failed'].map((state) => sql.lit(state));

function queriesOfChannels(db: Compiler) {
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
      channels.where('claimable', '>', sql.lit(0n)).where('id', '>', v.after).orderBy('id').limit(v.limit),
    ),
  };
}

export type PaymentQueries = ReturnType<typeof paymentQueries>;
