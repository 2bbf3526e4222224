import { type JsonObject, TallyError } from '@tallystick/core';

/** A refusal that says how to pay: its document stands in the problem's `payment` too. */
export class PaymentRequiredError extends TallyError {
  readonly payment: JsonObject;

  constructor(message: string, payment: JsonObject, options: { readonly cause?: unknown } = {}) {
    super('payment_required', message, options);
    this.payment = payment;
  }
}
