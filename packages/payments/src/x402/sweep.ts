import type { PaymentRow } from '../payment-store.ts';
import { postExact, seenBefore } from './exact.ts';
import { detailOf } from './known.ts';
import { giveBack } from './metered.ts';
import { paymentAccount, promisedAccount, toNano } from './payments.ts';
import { seconds, type Till } from './till.ts';
import { endUpto, settleOwed } from './upto.ts';
import { voucherDetailOf, voucherSeen } from './voucher.ts';
import { endVoucher } from './voucher-metered.ts';

const AT_ONCE = 100;
/** Until what is still open is looked at again. */
const AGAIN_SECONDS = 30;

/** See {@link Payments.sweep}. */
export async function sweep(till: Till): Promise<void> {
  const now = seconds(till.clock);
  for (const row of await till.store.payments.abandoned(now, AT_ONCE)) {
    await resolve(till, row).catch((error: unknown) => {
      till.logger.error({ err: error, payment: row.id }, 'a payment could not be brought to its end');
    });
  }
}

/** Brings an abandoned payment to its end, or puts it off where nothing can be said yet. */
export async function resolve(till: Till, row: PaymentRow): Promise<PaymentRow> {
  if (row.state === 'owed') return row.scheme === 'upto' ? settleOwed(till, row) : row;
  if (row.state === 'serving') return resolveServing(till, row);
  return row.scheme === 'exact' ? resolveExact(till, row) : resolveVoucher(till, row);
}

/** Of a payment that failed, too: the facilitator may have said so wrongly. */
export async function resolveExact(till: Till, row: PaymentRow): Promise<PaymentRow> {
  const took = await seenBefore(till, row);
  if (took?.kind !== 'taken') return took === null ? putOff(till, row) : step(till, row, { state: 'failed' });
  await postExact(till, row, took.tx);
  return step(till, row, { state: 'settled', tx: took.tx, charged: row.amount });
}

async function resolveVoucher(till: Till, row: PaymentRow): Promise<PaymentRow> {
  const { chain, store, clock } = till;
  if ((await voucherSeen(till, row)) === null) return step(till, row, { state: 'failed' });
  const amount = toNano(row.amount);
  await store.ledger.post({
    id: `x402:${row.id}`,
    memo: 'x402 voucher',
    at: seconds(clock),
    entries: [
      { account: promisedAccount(chain.network), amount: -amount },
      { account: detailOf(row).credit, amount },
    ],
  });
  return step(till, row, { state: 'settled', charged: row.amount });
}

async function resolveServing(till: Till, row: PaymentRow): Promise<PaymentRow> {
  const isUpto = row.scheme === 'upto';
  const account = paymentAccount(isUpto ? row.payer : voucherDetailOf(row).channelId);
  const { reserved } = await till.store.ledger.balance(account);
  if (reserved > 0n) return putOff(till, row);
  const used = await giveBack(till, row, account);
  return isUpto ? endUpto(till, used, row.receiptId) : endVoucher(till, used, row.receiptId);
}

async function putOff(till: Till, row: PaymentRow): Promise<PaymentRow> {
  if (row.state === 'failed') return row;
  return step(till, row, { leaseUntil: seconds(till.clock) + AGAIN_SECONDS });
}

async function step(
  { store }: Till,
  row: PaymentRow,
  change: Parameters<Till['store']['payments']['step']>[1],
): Promise<PaymentRow> {
  await store.payments.step(row, change);
  return { ...row, ...change };
}
