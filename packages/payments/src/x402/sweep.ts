import type { PaymentRow } from '../payment-store.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import { postExact, seenBefore } from './exact.ts';
import { giveBack } from './metered.ts';
import { paymentAccount, promisedAccount } from './payments.ts';
import { detailOf } from './replay.ts';
import { endUpto, settleOwed } from './upto.ts';
import { voucherDetailOf, voucherSeen } from './voucher.ts';
import { endVoucher } from './voucher-metered.ts';
import { seconds, type X402Context } from './x402-context.ts';

const AT_ONCE = 100;
/** Seconds after which an unresolved payment is looked at again. */
const AGAIN_SECONDS = 30;

/** See {@link Payments.sweep}. */
export async function sweep(x402: X402Context): Promise<void> {
  const now = seconds(x402.clock);
  for (const row of await x402.store.payments.abandoned(now, AT_ONCE)) {
    await resolve(x402, row).catch((error: unknown) => {
      x402.logger.error({ err: error, payment: row.id }, 'a payment could not be brought to its end');
    });
  }
}

/** Finishes an abandoned payment, or postpones it where its outcome cannot be known yet. */
export async function resolve(x402: X402Context, row: PaymentRow): Promise<PaymentRow> {
  if (row.state === 'owed') return row.scheme === 'upto' ? settleOwed(x402, row) : row;
  if (row.state === 'serving') return resolveServing(x402, row);
  return row.scheme === 'exact' ? resolveExact(x402, row) : resolveVoucher(x402, row);
}

/** Also for a failed payment: the facilitator may have wrongly called it failed. */
export async function resolveExact(x402: X402Context, row: PaymentRow): Promise<PaymentRow> {
  const took = await seenBefore(x402, row);
  if (took?.kind !== 'taken') return took === null ? putOff(x402, row) : step(x402, row, { state: 'failed' });
  await postExact(x402, row, took.tx);
  return step(x402, row, { state: 'settled', tx: took.tx, charged: row.amount });
}

async function resolveVoucher(x402: X402Context, row: PaymentRow): Promise<PaymentRow> {
  const { chain, store, clock } = x402;
  if ((await voucherSeen(x402, row)) === null) return step(x402, row, { state: 'failed' });
  const amount = toNanoUsdc(row.amount);
  await store.ledger.post({
    id: `x402:${row.id}`,
    memo: 'x402 voucher',
    at: seconds(clock),
    entries: [
      { account: promisedAccount(chain.network), amount: -amount },
      { account: detailOf(row).credit, amount },
    ],
  });
  return step(x402, row, { state: 'settled', charged: row.amount });
}

async function resolveServing(x402: X402Context, row: PaymentRow): Promise<PaymentRow> {
  const isUpto = row.scheme === 'upto';
  const account = paymentAccount(isUpto ? row.payer : voucherDetailOf(row).channelId);
  const { reserved } = await x402.store.ledger.balance(account);
  if (reserved > 0n) return putOff(x402, row);
  const used = await giveBack(x402, row, account);
  return isUpto ? endUpto(x402, used, row.receiptId) : endVoucher(x402, used, row.receiptId);
}

async function putOff(x402: X402Context, row: PaymentRow): Promise<PaymentRow> {
  if (row.state === 'failed') return row;
  return step(x402, row, { leaseUntil: seconds(x402.clock) + AGAIN_SECONDS });
}

async function step(
  { store }: X402Context,
  row: PaymentRow,
  change: Parameters<X402Context['store']['payments']['step']>[1],
): Promise<PaymentRow> {
  await store.payments.step(row, change);
  return { ...row, ...change };
}
