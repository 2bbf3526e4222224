import { TallyError } from '@tallystick/core';
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';
import { toNanoUsdc } from '../treasury/units.ts';
import { postingId, waitFor } from './chain-watch.ts';
import type { EndedPayment, MeteredPayment } from './metered-payment.ts';
import { uptoOf } from './payloads.ts';
import { paymentAccount, promisedAccount } from './payments.ts';
import { type Detail, inProgress } from './replay.ts';
import type { CarriedPayment } from './wire.ts';
import { seconds, verified, type X402Context } from './x402-context.ts';

/** What is stored of an `upto` payment: all that its settlement needs, since it follows the delivery. */
interface UptoDetail extends Detail {
  readonly payload: PaymentPayload;
  readonly accepted: PaymentRequirements;
}

function uptoDetailOf(row: PaymentRow): UptoDetail {
  return JSON.parse(row.detail) as UptoDetail;
}

/**
 * A payment by `upto` with Permit2: the payer allows a maximum, and what was used is settled after the delivery. A
 * payer that does not pay has had one call: a payer can have one at a time, and none while it owes for one.
 */
export async function uptoPayment(
  x402: X402Context,
  { payload, proof }: CarriedPayment,
  accepted: PaymentRequirements,
): Promise<MeteredPayment | null> {
  const authorization = uptoOf(payload);
  if (authorization === null) return null;
  const { chain } = x402;
  const { from: payer, nonce } = authorization;
  const id = `upto:${chain.network}:${payer}:${nonce}`;
  const { number: fromBlock } = await chain.head();
  const detail: UptoDetail = { proof, credit: '', fromBlock, payload, accepted };
  return {
    id,
    payer,
    account: paymentAccount(payer),
    detail: JSON.stringify(detail),
    async verify() {
      const reason = await verified(x402, payload, accepted);
      if (reason === null) await requireTurn(x402, payer, id);
      return reason;
    },
    drop: () => leave(x402, payer),
    secure: async () => ({ kind: 'made', tx: null }),
    take: (row, receiptId) => endUpto(x402, row, receiptId),
    response: async ({ tx, state, charged, settlementReceipt }) => ({
      success: state !== 'owed',
      ...(state === 'owed' && { errorReason: 'settlement_failed' }),
      transaction: tx ?? '',
      network: chain.network,
      payer,
      amount: String(charged),
      ...(settlementReceipt !== undefined && { extra: { settlementReceipt } }),
    }),
  };
}

/** Settles what was used. The payment is `owed` until then. */
export async function endUpto(
  x402: X402Context,
  row: PaymentRow,
  receiptId: string | null,
): Promise<EndedPayment> {
  const { payments } = x402.store;
  if (row.charged > 0n) {
    const owed = { state: 'owed', charged: row.charged, receiptId } as const;
    await payments.step(row, owed);
    return settleOwed(x402, { ...row, ...owed });
  }
  const step = { state: 'failed', charged: 0n, receiptId } as const;
  await payments.step(row, step);
  await leave(x402, row.payer);
  return { ...row, ...step };
}

/** Refuses a second call of a payer at once. The store holds it for all processes. */
async function requireTurn(x402: X402Context, payer: string, id: string): Promise<void> {
  const { store, clock } = x402;
  const now = seconds(clock);
  for (const row of await store.payments.openOf(payer)) {
    if (row.scheme !== 'upto') continue;
    // If its process has ended, the sweep ends the payment, and the payer is free again.
    if (row.state === 'serving') throw inProgress();
    if (row.state === 'owed' && (await settleOwed(x402, row)).state === 'owed') throw owes(row);
  }
  if (await store.payments.putChannel(turn(payer, { id, version: 1, now }))) return;
  const taken = await store.payments.channel(turnOf(payer));
  if (taken === null) throw inProgress();
  const [holderId = '', until = '0'] = (JSON.parse(taken.document) as string).split(' ');
  const holder = await store.payments.find(holderId);
  const isLive =
    holder === null ? Number(until) > now : holder.state === 'serving' && holder.leaseUntil > now;
  const next = turn(payer, { id, version: taken.version + 1, now });
  if (isLive || !(await store.payments.putChannel(next))) throw inProgress();
}

function owes({ charged, receiptId }: PaymentRow): TallyError {
  return new TallyError(
    'payment_owed',
    `An earlier call (${receiptId ?? 'without receipt'}) cost ${charged} base units of USDC that could not be settled. Make them available and send the request again: the earlier call is settled first.`,
  );
}

const turnOf = (payer: string) => `payer:${payer}`;

/** Seconds within which the payment of a turn is begun. After them a turn without a payment is over: its process has ended. */
const BEGIN_SECONDS = 300;

interface Turn {
  /** Of the payment. */
  readonly id: string;
  readonly version: number;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * The document is a text, as in releases that wrote the id alone: they take one with a time for a turn whose payment is
 * about to begin.
 */
function turn(payer: string, { id, version, now }: Turn) {
  const document = JSON.stringify(`${id} ${now + BEGIN_SECONDS}`);
  return { id: turnOf(payer), version, claimable: 0n, document };
}

async function leave({ store }: X402Context, payer: string): Promise<void> {
  const taken = await store.payments.channel(turnOf(payer));
  if (taken !== null) await store.payments.deleteChannel(taken.id, taken.version);
}

/** Settles what was delivered, and mints the receipt of that. Resolves to the row as it is then. */
export async function settleOwed(x402: X402Context, row: PaymentRow): Promise<EndedPayment> {
  const spent = new Set<string>();
  let owed = row;
  for (;;) {
    const moved = await settlementOf(x402, owed, spent);
    if (moved === null) {
      const { id: payment, receiptId: receipt } = owed;
      x402.logger.warn({ payment, receipt }, 'a delivered call could not be settled');
      return owed;
    }
    const outcome = await settleBy(x402, owed, moved);
    if (outcome.kind === 'ended') return outcome.row;
    spent.add(moved.id);
    owed = outcome.row;
  }
}

/** The transfer that settles it, which the facilitator is asked for if there is none. `spent` are those that don't count. */
async function settlementOf(
  x402: X402Context,
  row: PaymentRow,
  spent: ReadonlySet<string>,
): Promise<Moved | null> {
  const find = () => findMoved(x402, row, spent);
  const before = await find();
  if (before !== null) return before;
  const refused = !(await ask(x402, row));
  return waitFor(find, refused ? 0 : x402.seeMs, x402.everyMs);
}

/** Books a transfer as the settlement. `spent`: it was booked before, for something else that its payer bought with it. */
async function settleBy(
  x402: X402Context,
  row: PaymentRow,
  moved: Moved,
): Promise<{ readonly kind: 'ended' | 'spent'; readonly row: EndedPayment }> {
  const { store, settlementReceipt } = x402;
  // Whoever begins again after the posting knows by the stored transaction that the posting is this payment's.
  const wasOurs = row.tx === moved.tx;
  const begun = { ...row, tx: moved.tx, leaseUntil: row.leaseUntil + 1 };
  if (!(await store.payments.step(row, begun)))
    return { kind: 'ended', row: (await store.payments.find(row.id)) ?? row };
  const amount = toNanoUsdc(row.charged);
  const posted = await store.ledger.post({
    id: moved.id,
    memo: `x402 upto ${moved.tx}`,
    at: seconds(x402.clock),
    entries: [
      { account: `chain:${x402.chain.network}`, amount: -amount },
      { account: promisedAccount(x402.chain.network), amount },
    ],
  });
  if (posted === 'posted_before' && !wasOurs) {
    await store.payments.step(begun, { tx: null });
    return { kind: 'spent', row: { ...begun, tx: null } };
  }
  const step = { state: 'delivered' } as const;
  if (!(await store.payments.step(begun, step))) return { kind: 'ended', row: { ...begun, ...step } };
  await leave(x402, row.payer);
  const { id: paymentId, receiptId, charged, payer } = row;
  const late = { paymentId, receiptId, tx: moved.tx, amount: charged, payer };
  const ended = { ...begun, ...step, settlementReceipt: await settlementReceipt(late) };
  return { kind: 'ended', row: ended };
}

/** False where the facilitator reports that it did not settle: then looking once is enough. */
async function ask(x402: X402Context, row: PaymentRow): Promise<boolean> {
  const { payload, accepted } = uptoDetailOf(row);
  try {
    const response: SettleResponse = await x402.facilitator.settle(payload, {
      ...accepted,
      amount: String(row.charged),
    });
    if (!response.success)
      x402.logger.warn({ payment: row.id, reason: response.errorReason }, 'a settlement failed');
    return response.success || response.transaction !== '';
  } catch (error) {
    x402.logger.warn({ err: error }, 'a facilitator gave no answer to a settlement');
    return true;
  }
}

/** A transfer to the treasury; `id` is that of its posting. */
interface Moved {
  readonly tx: string;
  readonly id: string;
}

/** Finds the transfer that settled it: of that payer and amount, in a transaction that settled no other payment. */
async function findMoved(
  { chain, treasury, store }: X402Context,
  row: PaymentRow,
  spent: ReadonlySet<string>,
): Promise<Moved | null> {
  const { fromBlock } = uptoDetailOf(row);
  const { number: toBlock } = await chain.head();
  for await (const one of chain.transfers({ to: treasury, fromBlock, toBlock })) {
    if (one.from !== row.payer || one.amount !== row.charged) continue;
    const id = postingId(chain.network, one.txHash, one.ordinal);
    if (spent.has(id)) continue;
    const others = await store.payments.findByTx(one.txHash);
    if (others.every((other) => other.id === row.id)) return { tx: one.txHash, id };
  }
  return null;
}
