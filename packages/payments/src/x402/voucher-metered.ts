import type { PaymentRequirements } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';
import { chargeChannel } from './channel.ts';
import type { MeteredPayment } from './metered-payment.ts';
import { paymentAccount } from './payments.ts';
import { givenVoucher, type VoucherDetail, voucherDetailOf, voucherResponse } from './voucher.ts';
import type { CarriedPayment } from './wire.ts';
import type { X402Context } from './x402-context.ts';

/**
 * A payment by `batch-settlement` for a call that is priced afterwards: the voucher allows a maximum, and what was used
 * is charged.
 */
export async function voucherMeteredPayment(
  x402: X402Context,
  { payload, proof }: CarriedPayment,
  accepted: PaymentRequirements,
): Promise<MeteredPayment | null> {
  const voucher = givenVoucher(x402, payload, accepted);
  if (voucher === null) return null;
  const { chain } = x402;
  const { id, payer, channelId, base } = voucher;
  const { number: fromBlock } = await chain.head();
  const detail: VoucherDetail = {
    proof,
    credit: '',
    fromBlock,
    channelId,
    base: String(base),
    depositTx: null,
  };
  return {
    id,
    payer,
    account: paymentAccount(channelId),
    detail: JSON.stringify(detail),
    verify: () => voucher.verify(),
    drop: () => voucher.drop(),
    async secure() {
      const made = await voucher.deposit();
      return made.kind === 'taken' ? { kind: 'made', tx: made.tx } : made;
    },
    take: (row, receiptId) => endVoucher(x402, row, receiptId),
    response: (row) => voucherResponse(x402, row),
  };
}

/** Charges the channel what was used, by the voucher whose place it keeps. */
export async function endVoucher(
  x402: X402Context,
  row: PaymentRow,
  receiptId: string | null,
): Promise<PaymentRow> {
  const { store, vouchers, logger } = x402;
  const { channelId, base } = voucherDetailOf(row);
  const channel = await vouchers.getStorage().get(channelId);
  const charged =
    channel !== undefined &&
    (await chargeChannel(vouchers.getStorage(), {
      channelId,
      base: BigInt(base),
      amount: row.charged,
      most: BigInt(channel.signedMaxClaimable),
      signature: channel.signature,
      pendingId: channel.pendingRequest?.pendingId ?? null,
    }));
  if (!charged) logger.error({ payment: row.id }, 'a channel was charged by another voucher meanwhile');
  // A call that used nothing leaves the channel as it was, so that the same voucher may be given again.
  const state = row.charged === 0n ? 'failed' : charged ? 'delivered' : 'owed';
  const step = { state, charged: row.charged, receiptId } as const;
  await store.payments.step(row, step);
  return { ...row, ...step };
}
