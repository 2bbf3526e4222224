import { TallyError } from '@tallystick/core';
import type { Received } from '@tallystick/kit';
import type { PaymentRequirements } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';
import { beginPayment, earlierPayment, type PaymentRequest, passIdentifier } from './begin.ts';
import { exactPayment, seenBefore } from './exact.ts';
import type { FixedOutcome, FixedPayment } from './fixed-payment.ts';
import type { PaymentResult, PricedOrder } from './payments.ts';
import {
  claimOf,
  detailOf,
  holds,
  identifierOf,
  inProgress,
  requireSameRequest,
  unconfirmed,
} from './replay.ts';
import { voucherPayment } from './voucher.ts';
import { type CarriedPayment, readPayment } from './wire.ts';
import { refusal, requirementsFor, respond, seconds, type X402Context } from './x402-context.ts';

/** Seconds for which the process that settles a payment has it to itself. */
const LEASE_SECONDS = 60;

/** See {@link Payments.charge}. */
export async function charge(
  x402: X402Context,
  received: Received,
  order: PricedOrder,
): Promise<PaymentResult> {
  const { amount } = order;
  const carried = readPayment(received.incoming);
  const requirements = await requirementsFor(x402, order, amount);
  const refuse = (reason?: string) =>
    refusal(x402, { order, amount, requirements, reason, payload: carried?.payload });
  if (carried === null) throw await refuse();
  const accepted = x402.server.findMatchingRequirements(requirements, carried.payload);
  const payment = accepted && (await fixedPaymentOf(x402, carried, accepted, order));
  if (!payment) throw await refuse('no_matching_payment_requirements');
  const outcome = await settleFixed(x402, { payment, carried, order });
  if ('reason' in outcome) throw await refuse(outcome.reason);
  await respond(x402, received, order, await payment.response(outcome));
  return paidOf(x402, outcome, { carried, order });
}

function fixedPaymentOf(
  x402: X402Context,
  carried: CarriedPayment,
  accepted: PaymentRequirements,
  order: PricedOrder,
): Promise<FixedPayment | null> {
  return accepted.scheme === 'exact'
    ? exactPayment(x402, carried, accepted, order)
    : voucherPayment(x402, carried, accepted, order);
}

type Refused = { readonly reason: string };

type FixedPaymentRequest = PaymentRequest<FixedPayment, PricedOrder>;

/** The payment once it is taken and recorded, by whichever request did it. */
async function settleFixed(x402: X402Context, request: FixedPaymentRequest): Promise<PaymentRow | Refused> {
  const { payment, order } = request;
  const known = await earlierPayment(x402, request);
  if (known !== null) {
    const isSame = known.id === payment.id;
    const isHeld = isSame && holds(known, request.carried);
    if (!isHeld || (known.requestHash !== order.requestHash && known.scheme !== 'exact')) {
      // A payer that repeats an identifier with a fresh payment proves its identity by it, and that payment stays
      // unused. A refused voucher gets the state of its channel, which the payer needs to sign a better one.
      const reason = await payment.verify();
      await payment.drop();
      if (reason !== null) return { reason };
      if (isSame && !isHeld) return replace(x402, request, known);
    }
    requireSameRequest(known, order.requestHash);
    requireFresh(known, order, seconds(x402.clock));
    if (known.state === 'settled' || known.state === 'delivered') return known;
    if (known.state === 'settling' && known.leaseUntil > seconds(x402.clock)) throw inProgress();
    if (!isSame) return instead(x402, request, known);
    const seen = await payment.seen(known);
    if (seen !== null) return record(x402, request, known, seen);
  }
  return attempt(x402, request, known);
}

/**
 * Replaces a payment at a place where another began: a channel's next voucher may be signed anew, as long as none was
 * taken there.
 */
async function replace(
  x402: X402Context,
  request: FixedPaymentRequest,
  known: PaymentRow,
): Promise<PaymentRow | Refused> {
  const { payment } = request;
  if (known.scheme === 'exact' || known.state === 'settled' || known.state === 'delivered') {
    return { reason: 'payment_used' };
  }
  if (known.state === 'settling' && known.leaseUntil > seconds(x402.clock)) throw inProgress();
  if ((await payment.seen(known)) !== null) return { reason: 'payment_used' };
  return attempt(x402, request, known);
}

/** Takes the payment in place of the one that has its identifier, if that one failed. */
async function instead(
  x402: X402Context,
  request: FixedPaymentRequest,
  named: PaymentRow,
): Promise<PaymentRow | Refused> {
  if (named.state !== 'failed') throw inProgress();
  if (named.scheme === 'exact') {
    // The facilitator may have wrongly called it failed.
    const seen = await seenBefore(x402, named);
    if (seen?.kind === 'taken') return record(x402, request, named, seen);
  }
  return attempt(x402, request, await passIdentifier(x402, named, request.payment));
}

/** Takes the payment if it is good and no other request does. */
async function attempt(
  x402: X402Context,
  request: FixedPaymentRequest,
  known: PaymentRow | null,
): Promise<PaymentRow | Refused> {
  const { payment } = request;
  const reason = await payment.verify();
  if (reason !== null) return { reason };
  const { amount } = request.order;
  const begun = await beginPayment(x402, request, known, {
    state: 'settling',
    amount,
    leaseSeconds: LEASE_SECONDS,
  });
  if (begun !== null) return record(x402, request, begun, await payment.take(begun));
  await payment.drop();
  throw inProgress();
}

/** @throws payment_reused where it was answered, and its answer may no longer be repeated */
function requireFresh({ createdAt, state }: PaymentRow, { repeatSeconds }: PricedOrder, now: number): void {
  if (state !== 'delivered' || repeatSeconds === undefined || now <= createdAt + repeatSeconds) return;
  throw new TallyError(
    'payment_reused',
    'This payment was already used: what it paid for has been answered. Make a new payment.',
  );
}

async function record(
  x402: X402Context,
  { payment }: FixedPaymentRequest,
  row: PaymentRow,
  took: FixedOutcome,
): Promise<PaymentRow | Refused> {
  const { payments } = x402.store;
  if (took.kind === 'unknown') {
    await payments.step(row, { leaseUntil: Math.min(row.leaseUntil - 1, seconds(x402.clock)) });
    throw unconfirmed();
  }
  if (took.kind === 'refused') {
    await payments.step(row, { state: 'failed' });
    return { reason: took.reason };
  }
  await payment.post(row, took.tx);
  const step = { state: 'settled', tx: took.tx, charged: row.amount } as const;
  if (await payments.step(row, step)) return { ...row, ...step };
  // Another process found the same at the same time.
  return (await payments.find(row.id)) ?? { ...row, ...step };
}

function paidOf(
  x402: X402Context,
  row: PaymentRow,
  { carried, order }: Omit<FixedPaymentRequest, 'payment'>,
): PaymentResult {
  const { payments } = x402.store;
  const { id, payer, tx, amount, receiptId, identifier } = row;
  return {
    id,
    payer,
    tx,
    amount,
    isConfidential:
      identifier === null
        ? row.state !== 'delivered'
        : identifier === identifierOf(payer, carried.identifier),
    receiptId,
    // The claim of the payment that was taken, which an identifier may have named.
    claim: claimOf(detailOf(row).proof, order.requestHash, seconds(x402.clock)),
    async delivered(given) {
      const now = await payments.find(id);
      if (now?.state === 'settled') await payments.step(now, { state: 'delivered', receiptId: given });
    },
  };
}
