import { ApiProblem } from '../../api.ts';

/** A payment that the wallet signed. The service takes it at most once, however often it is sent. */
export interface SignedPayment {
  /** `PAYMENT-SIGNATURE`. */
  readonly header: string;
  /** Unix seconds after which the chain no longer takes it. */
  readonly until: number;
  /** Whether it was sent before without an answer that settles it. */
  readonly unanswered: boolean;
}

/**
 * Signed payments that may have been taken, by what they are for. They outlive the dialog: another signature for the same
 * top-up could be a second payment.
 */
export const unsettled = new Map<string, SignedPayment>();

/** Whether the service refused a payment for good: before it took it, or after the chain could. @param now Unix seconds */
export function isOver({ until, unanswered }: SignedPayment, error: unknown, now: number): boolean {
  const refused = error instanceof ApiProblem && REFUSALS.has(error.code);
  return refused && (!unanswered || now > until + GRACE_SECONDS);
}

const REFUSALS: ReadonlySet<string> = new Set(['payment_required', 'payment_malformed', 'payment_reused']);

/** The clocks of the chain and of the service may be behind that of this computer. */
const GRACE_SECONDS = 60;
