import type { PaymentRequirements, SettleResponse } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';
import { type AuthorizedTransfer, lookUp, type Seen, transferId, waitFor } from './chain-watch.ts';
import type { Means, Took } from './fixed-payment.ts';
import type { Detail } from './known.ts';
import { exactOf } from './payloads.ts';
import { type PricedOrder, toNano } from './payments.ts';
import { seconds, type Till, verified } from './till.ts';
import type { CarriedPayment } from './wire.ts';

/** What is kept of an exact payment: enough to find it on the chain. */
interface ExactDetail extends Detail {
  readonly nonce: string;
  /** Unix seconds. */
  readonly validBefore: number;
}

function exactDetailOf(row: PaymentRow): ExactDetail {
  return JSON.parse(row.detail) as ExactDetail;
}

/** `exact` by EIP-3009: the chain moves the price at once. Null for a payload of another form. */
export async function exactMeans(
  till: Till,
  { payload, proof }: CarriedPayment,
  accepted: PaymentRequirements,
  { credit }: PricedOrder,
): Promise<Means | null> {
  const authorization = exactOf(payload);
  if (authorization === null) return null;
  const { chain } = till;
  const { from: payer, nonce, validBefore } = authorization;
  const { number: fromBlock } = await chain.head();
  const detail: ExactDetail = { proof, credit, fromBlock, nonce, validBefore };
  return {
    id: `exact:${chain.network}:${chain.usdc.toLowerCase()}:${payer}:${nonce}`,
    payer,
    detail: JSON.stringify(detail),
    verify: () => verified(till, payload, accepted),
    drop: async () => {},
    seen: (row) => seenBefore(till, row),
    async take(row) {
      const said = await ask(till, () => till.facilitator.settle(payload, accepted));
      return confirmed(till, row, said);
    },
    post: (row, tx) => postExact(till, row, tx),
    async response({ tx, amount }) {
      return { success: true, transaction: tx ?? '', network: chain.network, payer, amount: String(amount) };
    },
  };
}

/** What a facilitator says, or null where it says nothing in time. */
async function ask(till: Till, settle: () => Promise<SettleResponse>): Promise<SettleResponse | null> {
  try {
    return await settle();
  } catch (error) {
    till.logger.warn({ err: error }, 'a facilitator gave no answer to a settlement');
    return null;
  }
}

/** Only what the chain shows counts; what is said decides how long it is looked for. */
async function confirmed(till: Till, row: PaymentRow, said: SettleResponse | null): Promise<Took> {
  const failed = said?.success === false && said.transaction === '';
  const look = async (): Promise<Seen | null> => {
    const seen = await lookUp(till.chain, transferOf(till, row));
    return seen.kind === 'unseen' ? null : seen;
  };
  const seen = await waitFor(look, failed ? 0 : till.seeMs, till.everyMs);
  if (seen?.kind === 'moved') return { kind: 'taken', tx: seen.tx };
  if (seen?.kind === 'other') return { kind: 'refused', reason: 'transaction_mismatch' };
  if (failed) return { kind: 'refused', reason: said.errorReason ?? 'settlement_failed' };
  const { success = null, transaction = null } = said ?? {};
  till.logger.error(
    { payment: row.id, success, transaction },
    'a settlement is not on the chain, whatever the facilitator says',
  );
  return { kind: 'unknown' };
}

/** Null while it may still be settled, by whoever holds the authorisation. */
export async function seenBefore(till: Till, row: PaymentRow): Promise<Took | null> {
  const seen = await lookUp(till.chain, transferOf(till, row));
  if (seen.kind === 'moved') return { kind: 'taken', tx: seen.tx };
  if (seen.kind === 'other') return { kind: 'refused', reason: 'transaction_mismatch' };
  const { validBefore } = exactDetailOf(row);
  const { time } = await till.chain.head();
  const isOver = time > validBefore && seconds(till.clock) > validBefore + till.seeMs / 1000;
  return isOver ? { kind: 'refused', reason: 'payment_expired' } : null;
}

function transferOf({ treasury }: Till, row: PaymentRow): AuthorizedTransfer {
  const { nonce, fromBlock } = exactDetailOf(row);
  return { from: row.payer, to: treasury, amount: row.amount, nonce, fromBlock };
}

/** From the chain to whom the order credits. */
export async function postExact(till: Till, row: PaymentRow, tx: string | null): Promise<void> {
  if (tx === null) throw new RangeError('An exact payment has a transaction.');
  const { chain, store } = till;
  const alike = await store.payments.findByTx(tx);
  const skip = alike.filter(
    (one) => one.payer === row.payer && one.amount === row.amount && one.id !== row.id,
  );
  const { credit } = exactDetailOf(row);
  const amount = toNano(row.amount);
  await store.ledger.post({
    id: await transferId(chain, { ...transferOf(till, row), tx }, skip.length),
    memo: `x402 exact ${tx}`,
    at: seconds(till.clock),
    entries: [
      { account: `chain:${chain.network}`, amount: -amount },
      { account: credit, amount },
    ],
  });
}
