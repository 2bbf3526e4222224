import type { PaymentRequirements } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';
import { chargeChannel } from './channel.ts';
import type { MeteredMeans } from './metered-payment.ts';
import { paymentAccount } from './payments.ts';
import type { Till } from './till.ts';
import { givenVoucher, type VoucherDetail, voucherDetailOf, voucherResponse } from './voucher.ts';
import type { CarriedPayment } from './wire.ts';

/** `batch-settlement` for what is priced afterwards: the voucher allows the most, and what was used is charged. */
export async function voucherMeteredMeans(
  till: Till,
  { payload, proof }: CarriedPayment,
  accepted: PaymentRequirements,
): Promise<MeteredMeans | null> {
  const voucher = givenVoucher(till, payload, accepted);
  if (voucher === null) return null;
  const { chain } = till;
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
    take: (row, receiptId) => endVoucher(till, row, receiptId),
    response: (row) => voucherResponse(till, row),
  };
}

/** Charges the channel with what was used, by the voucher that it keeps a place for. */
export async function endVoucher(till: Till, row: PaymentRow, receiptId: string | null): Promise<PaymentRow> {
  const { store, vouchers, logger } = till;
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
  // What took nothing leaves the channel where it was, so that the same voucher may be given again.
  const state = row.charged === 0n ? 'failed' : charged ? 'delivered' : 'owed';
  const step = { state, charged: row.charged, receiptId } as const;
  await store.payments.step(row, step);
  return { ...row, ...step };
}
