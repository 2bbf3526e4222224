import type { PaymentRow } from '../payment-store.ts';
import type { Order } from './payments.ts';
import { holds, identifierOf } from './replay.ts';
import type { CarriedPayment } from './wire.ts';
import { seconds, type X402Context } from './x402-context.ts';

/** A payment that came with a request, in the terms of its scheme. */
export interface PaymentRequest<Means, Ordered = Order> {
  readonly payment: Means;
  readonly carried: CarriedPayment;
  readonly order: Ordered;
}

/** What every scheme says of a payment; `detail` is JSON text. */
interface Payment {
  readonly id: string;
  readonly payer: string;
  readonly detail: string;
}

/** The row that the payment's identifier names, else the payment's own; null where there is neither. */
export async function earlierPayment(
  { store }: X402Context,
  { payment, carried }: Omit<PaymentRequest<Payment>, 'order'>,
): Promise<PaymentRow | null> {
  const identifier = identifierOf(payment.payer, carried.identifier);
  const named = identifier === null ? null : await store.payments.findByIdentifier(identifier);
  return named ?? store.payments.find(payment.id);
}

/**
 * Takes the identifier from a payment that failed, for another with the same identifier: nothing was paid by the one that had it.
 * The row of the other payment, as `earlierPayment` would find it then.
 */
export async function passIdentifier(
  { store }: X402Context,
  failed: PaymentRow,
  { id }: Payment,
): Promise<PaymentRow | null> {
  await store.payments.step(failed, { identifier: null });
  return store.payments.find(id);
}

/** Begins a payment, again where it is known. The row with a lease on it; null where another request was quicker. */
export async function beginPayment(
  { store, clock }: X402Context,
  { payment, carried, order }: PaymentRequest<Payment>,
  known: PaymentRow | null,
  { leaseSeconds, ...how }: Pick<PaymentRow, 'state' | 'amount'> & { readonly leaseSeconds: number },
): Promise<PaymentRow | null> {
  const now = seconds(clock);
  const leaseUntil = now + leaseSeconds;
  const { requestHash } = order;
  const identifier = identifierOf(payment.payer, carried.identifier);
  const begun = { ...how, charged: 0n, requestHash };
  if (known !== null) {
    const step = {
      ...begun,
      // A lease is never the one before, so that two who begin again don't both think that they have it.
      leaseUntil: Math.max(leaseUntil, known.leaseUntil + 1),
      identifier: identifier ?? known.identifier,
      // Its transfer may be in a block that came before this request.
      detail: holds(known, carried) ? known.detail : payment.detail,
    };
    return (await store.payments.step(known, step)) ? { ...known, ...step } : null;
  }
  const { id, payer, detail } = payment;
  const { scheme } = carried.payload.accepted;
  const unused = { tx: null, receiptId: null, createdAt: now };
  const row = { ...begun, id, identifier, scheme, payer, detail, leaseUntil, ...unused };
  return (await store.payments.begin(row)) === null ? row : null;
}
