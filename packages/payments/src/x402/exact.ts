import type { PaymentRequirements, SettleResponse } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import {
  type AuthorizedTransfer,
  type ChainObservation,
  lookUp,
  transferId,
  waitFor,
} from './chain-watch.ts';
import type { FixedOutcome, FixedPayment } from './fixed-payment.ts';
import { exactOf } from './payloads.ts';
import { type PricedOrder } from './payments.ts';
import type { Detail } from './replay.ts';
import type { CarriedPayment } from './wire.ts';
import { seconds, verified, type X402Context } from './x402-context.ts';

/** What is stored of an exact payment: enough to find it on the chain. */
interface ExactDetail extends Detail {
  readonly nonce: string;
  /** Unix seconds. */
  readonly validBefore: number;
}

function exactDetailOf(row: PaymentRow): ExactDetail {
  return JSON.parse(row.detail) as ExactDetail;
}

/** A payment by `exact` with EIP-3009, which moves the price on the chain at once. Null for a payload of another form. */
export async function exactPayment(
  x402: X402Context,
  { payload, proof }: CarriedPayment,
  accepted: PaymentRequirements,
  { credit }: PricedOrder,
): Promise<FixedPayment | null> {
  const authorization = exactOf(payload);
  if (authorization === null) return null;
  const { chain } = x402;
  const { from: payer, nonce, validBefore } = authorization;
  const { number: fromBlock } = await chain.head();
  const detail: ExactDetail = { proof, credit, fromBlock, nonce, validBefore };
  return {
    id: `exact:${chain.network}:${chain.usdc.toLowerCase()}:${payer}:${nonce}`,
    payer,
    detail: JSON.stringify(detail),
    verify: () => verified(x402, payload, accepted),
    drop: async () => {},
    seen: (row) => seenBefore(x402, row),
    async take(row) {
      const response = await ask(x402, () => x402.facilitator.settle(payload, accepted));
      return confirmed(x402, row, response);
    },
    post: (row, tx) => postExact(x402, row, tx),
    async response({ tx, amount }) {
      return { success: true, transaction: tx ?? '', network: chain.network, payer, amount: String(amount) };
    },
  };
}

/** The facilitator's answer, or null where it gives none in time. */
async function ask(x402: X402Context, settle: () => Promise<SettleResponse>): Promise<SettleResponse | null> {
  try {
    return await settle();
  } catch (error) {
    x402.logger.warn({ err: error }, 'a facilitator gave no answer to a settlement');
    return null;
  }
}

/** Only what the chain shows counts; the facilitator's answer decides how long to look for it. */
async function confirmed(
  x402: X402Context,
  row: PaymentRow,
  response: SettleResponse | null,
): Promise<FixedOutcome> {
  const failed = response?.success === false && response.transaction === '';
  const checkChain = async (): Promise<ChainObservation | null> => {
    const seen = await lookUp(x402.chain, transferOf(x402, row));
    return seen.kind === 'unseen' ? null : seen;
  };
  const seen = await waitFor(checkChain, failed ? 0 : x402.seeMs, x402.everyMs);
  if (seen?.kind === 'moved') return { kind: 'taken', tx: seen.tx };
  if (seen?.kind === 'other') return { kind: 'refused', reason: 'transaction_mismatch' };
  if (failed) return { kind: 'refused', reason: response.errorReason ?? 'settlement_failed' };
  const { success = null, transaction = null } = response ?? {};
  x402.logger.error(
    { payment: row.id, success, transaction },
    'a settlement is not on the chain, whatever the facilitator says',
  );
  return { kind: 'unknown' };
}

/** The outcome of an earlier attempt; null while it may still be settled by whoever holds the authorisation. */
export async function seenBefore(x402: X402Context, row: PaymentRow): Promise<FixedOutcome | null> {
  const seen = await lookUp(x402.chain, transferOf(x402, row));
  if (seen.kind === 'moved') return { kind: 'taken', tx: seen.tx };
  if (seen.kind === 'other') return { kind: 'refused', reason: 'transaction_mismatch' };
  const { validBefore } = exactDetailOf(row);
  const { time } = await x402.chain.head();
  const isOver = time > validBefore && seconds(x402.clock) > validBefore + x402.seeMs / 1000;
  return isOver ? { kind: 'refused', reason: 'payment_expired' } : null;
}

function transferOf({ treasury }: X402Context, row: PaymentRow): AuthorizedTransfer {
  const { nonce, fromBlock } = exactDetailOf(row);
  return { from: row.payer, to: treasury, amount: row.amount, nonce, fromBlock };
}

/** Posts the amount from the chain's account to the account that the order credits. */
export async function postExact(x402: X402Context, row: PaymentRow, tx: string | null): Promise<void> {
  if (tx === null) throw new RangeError('An exact payment has a transaction.');
  const { chain, store } = x402;
  const alike = await store.payments.findByTx(tx);
  const skip = alike.filter(
    (one) => one.payer === row.payer && one.amount === row.amount && one.id !== row.id,
  );
  const { credit } = exactDetailOf(row);
  const amount = toNanoUsdc(row.amount);
  await store.ledger.post({
    id: await transferId(chain, { ...transferOf(x402, row), tx }, skip.length),
    memo: `x402 exact ${tx}`,
    at: seconds(x402.clock),
    entries: [
      { account: `chain:${chain.network}`, amount: -amount },
      { account: credit, amount },
    ],
  });
}
