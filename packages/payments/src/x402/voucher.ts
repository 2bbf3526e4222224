import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types';
import type { BaseUnits, PaymentRow } from '../payment-store.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import { waitFor } from './chain-watch.ts';
import { channelState, chargeChannel, syncChannel } from './channel.ts';
import type { FixedOutcome, FixedPayment } from './fixed-payment.ts';
import { voucherOf } from './payloads.ts';
import { type PricedOrder, promisedAccount } from './payments.ts';
import type { Detail } from './replay.ts';
import { isSigned } from './voucher-signature.ts';
import type { CarriedPayment } from './wire.ts';
import { seconds, verified, type X402Context } from './x402-context.ts';

/** What is stored of a voucher, besides what its channel stores. */
export interface VoucherDetail extends Detail {
  readonly channelId: string;
  /** What the channel was charged before, in decimal. */
  readonly base: string;
  readonly depositTx: string | null;
}

export function voucherDetailOf(row: PaymentRow): VoucherDetail {
  return JSON.parse(row.detail) as VoucherDetail;
}

/** A voucher that a payer gave, while it is verified. */
export interface GivenVoucher {
  readonly id: string;
  readonly payer: string;
  readonly channelId: string;
  /** What the channel was charged before, as the payer sees it. */
  readonly base: BaseUnits;
  /** Checks the voucher. Returns why it is refused; or null, and then its channel is reserved for it. */
  verify(): Promise<string | null>;
  /** Releases the channel. */
  drop(): Promise<void>;
  /** Makes the deposit that comes with it, if any. What the chain shows counts. */
  deposit(): Promise<FixedOutcome>;
  /** Charges the channel, once. False where another voucher has changed it. */
  charge(amount: BaseUnits): Promise<boolean>;
}

/** Reads a voucher; null for a payload of another form. */
export function givenVoucher(
  x402: X402Context,
  payload: PaymentPayload,
  accepted: PaymentRequirements,
): GivenVoucher | null {
  const given = voucherOf(payload);
  if (given === null || given.most < BigInt(accepted.amount)) return null;
  const { vouchers, chain } = x402;
  const { channelId, most, payer, isDeposit } = given;
  const base = most - BigInt(accepted.amount);
  const { signature } = payload.payload['voucher'] as { signature: string };
  let pendingId: string | null = null;
  // x402's hooks recognise a request by its payload object.
  let used = payload;
  const verify = async (): Promise<string | null> => {
    // The voucher is worth only its signature, so it is checked here and nobody is trusted.
    if (!(await isSigned(chain.network, payload.payload)))
      return 'invalid_batch_settlement_evm_voucher_signature';
    const reason = await verified(x402, used, accepted);
    pendingId = vouchers.readRequestContext(used)?.pendingId ?? null;
    return reason;
  };
  const isBacked = async (): Promise<boolean> => (used === payload && isDeposit) || isCovered(x402, given);
  return {
    id: `voucher:${chain.network}:${channelId}:${base}`,
    payer,
    channelId,
    base,
    async verify() {
      let reason = await verify();
      if (reason !== null && isDeposit && (await isCovered(x402, given))) {
        used = { ...payload, payload: withoutDeposit(payload.payload) };
        reason = await verify();
      }
      if (reason !== null || (await isBacked())) return reason;
      await vouchers.clearPendingRequest(used);
      return 'invalid_batch_settlement_evm_cumulative_exceeds_balance';
    },
    drop: () => vouchers.clearPendingRequest(used),
    async deposit() {
      return used === payload && isDeposit
        ? deposit(x402, payload, accepted, given)
        : { kind: 'taken', tx: null };
    },
    charge: (amount) =>
      chargeChannel(vouchers.getStorage(), { channelId, base, amount, most, signature, pendingId }),
  };
}

type VoucherPayload = NonNullable<ReturnType<typeof voucherOf>>;

/** Whether the deposit was already made and its outcome lost: then only the voucher of the payment is left. */
function isCovered({ holds }: X402Context, { channelId, most }: VoucherPayload): Promise<boolean> {
  return holds(channelId, most);
}

function withoutDeposit({ channelConfig, voucher }: PaymentPayload['payload']): PaymentPayload['payload'] {
  return { type: 'voucher', channelConfig, voucher };
}

async function deposit(
  x402: X402Context,
  payload: PaymentPayload,
  accepted: PaymentRequirements,
  given: VoucherPayload,
): Promise<FixedOutcome> {
  let response: SettleResponse | null = null;
  try {
    response = await x402.facilitator.settle(payload, accepted);
  } catch (error) {
    x402.logger.warn({ err: error }, 'a facilitator gave no answer to a deposit');
  }
  const failed = response?.success === false && response.transaction === '';
  const covered = await waitFor(
    async () => ((await isCovered(x402, given)) ? true : null),
    failed ? 0 : x402.seeMs,
    x402.everyMs,
  );
  if (covered !== null) {
    await syncChannel(x402, given.channelId);
    return { kind: 'taken', tx: response?.success === true ? response.transaction : null };
  }
  return failed
    ? { kind: 'refused', reason: response?.errorReason ?? 'settlement_failed' }
    : { kind: 'unknown' };
}

/** A payment by `batch-settlement` at a fixed price: the voucher is taken at once, and claimed on the chain with others. */
export async function voucherPayment(
  x402: X402Context,
  { payload, proof }: CarriedPayment,
  accepted: PaymentRequirements,
  { credit, amount }: PricedOrder,
): Promise<FixedPayment | null> {
  const voucher = givenVoucher(x402, payload, accepted);
  if (voucher === null) return null;
  const { chain, store } = x402;
  const { id, payer, channelId, base } = voucher;
  const { number: fromBlock } = await chain.head();
  const detail: VoucherDetail = { proof, credit, fromBlock, channelId, base: String(base), depositTx: null };
  return {
    id,
    payer,
    detail: JSON.stringify(detail),
    verify: () => voucher.verify(),
    drop: () => voucher.drop(),
    seen: (row) => voucherSeen(x402, row),
    async take() {
      const made = await voucher.deposit();
      if (made.kind !== 'taken') {
        await voucher.drop();
        return made;
      }
      return (await voucher.charge(amount)) ? made : { kind: 'refused', reason: 'channel_busy' };
    },
    async post(row) {
      const nanoUsdc = toNanoUsdc(row.amount);
      await store.ledger.post({
        id: `x402:${row.id}`,
        memo: 'x402 voucher',
        at: seconds(x402.clock),
        entries: [
          { account: promisedAccount(chain.network), amount: -nanoUsdc },
          { account: credit, amount: nanoUsdc },
        ],
      });
    },
    response: (row) => voucherResponse(x402, { ...row, charged: row.amount }),
  };
}

/** Whether the channel was charged: whatever was charged at the voucher's place was charged by it. */
export async function voucherSeen(x402: X402Context, row: PaymentRow): Promise<FixedOutcome | null> {
  const { channelId, base } = voucherDetailOf(row);
  const channel = await x402.vouchers.getStorage().get(channelId);
  if (channel === undefined || BigInt(channel.chargedCumulativeAmount) <= BigInt(base)) return null;
  return { kind: 'taken', tx: null };
}

export async function voucherResponse(
  x402: X402Context,
  row: PaymentRow,
): Promise<SettleResponse & { readonly payer: string }> {
  const { channelId, base } = voucherDetailOf(row);
  const channel = await x402.vouchers.getStorage().get(channelId);
  const state = channel && channelState(channel, BigInt(base) + row.charged);
  return {
    success: true,
    transaction: row.tx ?? '',
    network: x402.chain.network,
    payer: row.payer,
    extra: { chargedAmount: String(row.charged), ...(state && { channelState: state }) },
  };
}
