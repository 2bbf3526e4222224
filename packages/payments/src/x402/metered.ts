import { type JsonObject, TallyError } from '@tallystick/core';
import type { Received } from '@tallystick/kit';
import type { NanoUsdc } from '@tallystick/ledger';
import type { PaymentRequirements } from '@x402/core/types';
import type { BaseUnits, PaymentRow } from '../payment-store.ts';
import { NANO_PER_BASE_UNIT, toBaseUnits, toNanoUsdc } from '../treasury/units.ts';
import { beginPayment, earlierPayment, passIdentifier } from './begin.ts';
import type { MeteredPayment } from './metered-payment.ts';
import { type OpenPayment, type Order, promisedAccount } from './payments.ts';
import { inProgress, requireSameRequest, unconfirmed } from './replay.ts';
import { uptoPayment } from './upto.ts';
import { voucherMeteredPayment } from './voucher-metered.ts';
import { type CarriedPayment, readPayment } from './wire.ts';
import { refusal, requirementsFor, respond, seconds, type X402Context } from './x402-context.ts';

/** See {@link Payments.open}. */
export async function open(
  x402: X402Context,
  received: Received,
  order: Order,
  ceiling: NanoUsdc,
): Promise<OpenPayment> {
  const carried = readPayment(received.incoming);
  const amount = amountFor(carried, toBaseUnits(ceiling));
  const requirements = await requirementsFor(x402, order, amount);
  const refuse = (reason?: string) =>
    refusal(x402, { order, amount, requirements, reason, payload: carried?.payload });
  if (carried === null) throw await refuse();
  const accepted = x402.server.findMatchingRequirements(requirements, carried.payload);
  const payment = accepted && (await meteredPaymentOf(x402, carried, accepted));
  if (!payment) throw await refuse('no_matching_payment_requirements');

  let known = await earlierPayment(x402, { payment, carried });
  const reason = await payment.verify();
  if (reason !== null) throw await refuse(reason);
  // A little longer than a call's reservation.
  const leaseSeconds = Math.ceil(x402.maxCallMs / 1000) + 120;
  let row: PaymentRow | null;
  try {
    if (known !== null && known.id !== payment.id && known.state === 'failed') {
      requireSameRequest(known, order.requestHash);
      known = await passIdentifier(x402, known, payment);
    }
    if (known !== null) requireFree(known, { id: payment.id, order });
    row = await beginPayment(x402, { payment, carried, order }, known, {
      state: 'serving',
      amount,
      leaseSeconds,
    });
  } catch (error) {
    await payment.drop();
    throw error;
  }
  if (row === null) {
    await payment.drop();
    throw inProgress();
  }
  const made = await payment.secure();
  if (made.kind !== 'made') {
    await payment.drop();
    await x402.store.payments.step(row, { state: 'failed' });
    throw made.kind === 'unknown' ? unconfirmed() : await refuse(made.reason);
  }
  const credited = await credit(x402, row, payment.account);
  // The response headers of a stream go out before its end, at which the charge is known and told.
  const begun = { ...row, charged: 0n, tx: made.tx };
  await respond(x402, received, order, await payment.response(begun));
  return openPayment(x402, received, order, { payment, row: credited });
}

/** The amount that the payer accepted, if it is more than needed: a price can fall between the offer and the payment. */
function amountFor(carried: CarriedPayment | null, needed: BaseUnits): BaseUnits {
  const accepted = BigInt(carried?.payload.accepted.amount ?? 0);
  return accepted > needed ? accepted : needed;
}

function meteredPaymentOf(
  x402: X402Context,
  carried: CarriedPayment,
  accepted: PaymentRequirements,
): Promise<MeteredPayment | null> {
  return accepted.scheme === 'upto'
    ? uptoPayment(x402, carried, accepted)
    : voucherMeteredPayment(x402, carried, accepted);
}

interface MeteredPaymentRequest {
  readonly id: string;
  readonly order: Order;
}

/** @throws where the payment, or its identifier, is under way or used up */
function requireFree(known: PaymentRow, { id, order }: MeteredPaymentRequest): void {
  if (known.state === 'failed' && known.id === id) return;
  requireSameRequest(known, order.requestHash);
  // If its process has ended, the sweep ends the payment, and the payer is free again.
  if (known.state === 'serving') throw inProgress();
  throw new TallyError(
    'payment_reused',
    known.receiptId === null
      ? 'This payment was already used.'
      : `This payment was already used; the receipt of what it paid for is at /v1/receipt/${known.receiptId}.`,
  );
}

/** Every attempt has its own lease, and so its own postings. */
function attemptOf(row: PaymentRow): string {
  return `x402:${row.id}:${row.leaseUntil}`;
}

/** Until it is stored that all may be used, the row says that nothing was. */
async function credit(
  { store, chain, clock }: X402Context,
  row: PaymentRow,
  account: string,
): Promise<PaymentRow> {
  const amount = toNanoUsdc(row.amount);
  await store.ledger.post({
    id: `${attemptOf(row)}:in`,
    memo: `x402 ${row.scheme}, most`,
    at: seconds(clock),
    entries: [
      { account: promisedAccount(chain.network), amount: -amount },
      { account, amount },
    ],
  });
  const step = { charged: row.amount };
  await store.payments.step(row, step);
  return { ...row, ...step };
}

function openPayment(
  x402: X402Context,
  received: Received,
  order: Order,
  { payment, row }: { readonly payment: MeteredPayment; readonly row: PaymentRow },
): OpenPayment {
  let finished: Promise<JsonObject> | undefined;
  return {
    id: row.id,
    payer: row.payer,
    network: x402.chain.network,
    account: payment.account,
    finish(receiptId) {
      finished ??= (async () => {
        const ended = await payment.take(await giveBack(x402, row, payment.account), receiptId);
        if (ended.settlementReceipt !== undefined) {
          received.incoming.note({ kind: 'settlement_receipt', receiptId: ended.settlementReceipt });
        }
        return respond(x402, received, order, await payment.response(ended));
      })();
      return finished;
    },
  };
}

/**
 * Gives the rest back in whole base units; a smaller remainder stays for the next call. The used amount is stored
 * first, so that a second try gives back the same. Resolves to the row with it.
 */
export async function giveBack(
  { store, chain, clock }: Pick<X402Context, 'store' | 'chain' | 'clock'>,
  row: PaymentRow,
  account: string,
): Promise<PaymentRow> {
  const { balance, reserved } = await store.ledger.balance(account);
  const left = balance - reserved;
  const charged = row.charged < row.amount ? row.charged : row.amount - wholeOf(left, row);
  await store.payments.step(row, { charged });
  const back = toNanoUsdc(row.amount - charged);
  // The account has less if the rest was given back before, or the money never came.
  if (back > 0n && left >= back) {
    await store.ledger.post({
      id: `${attemptOf(row)}:out`,
      memo: `x402 ${row.scheme}, not used`,
      at: seconds(clock),
      entries: [
        { account, amount: -back },
        { account: promisedAccount(chain.network), amount: back },
      ],
    });
  }
  return { ...row, charged };
}

function wholeOf(left: NanoUsdc, { amount }: PaymentRow): BaseUnits {
  const whole = left / NANO_PER_BASE_UNIT;
  return whole < amount ? whole : amount;
}
