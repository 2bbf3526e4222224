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

const STORED_AS = 'tallystick-payments';

/**
 * Signed payments that may have been taken, by what they are for. They outlive the dialog, and with the tab's session the
 * page: another signature for the same top-up could be a second payment. Whoever reads one can only pay the service with it.
 */
class UnsettledPayments {
  readonly #payments = recall();

  has(key: string): boolean {
    return this.#payments.has(key);
  }

  get(key: string): SignedPayment | undefined {
    return this.#payments.get(key);
  }

  set(key: string, payment: SignedPayment): void {
    this.#payments.set(key, payment);
    this.#store();
  }

  delete(key: string): void {
    this.#payments.delete(key);
    this.#store();
  }

  #store(): void {
    try {
      sessionStorage.setItem(STORED_AS, JSON.stringify([...this.#payments]));
    } catch {
      // This browser stores nothing for the page: they are kept until the page is closed.
    }
  }
}

export const unsettled = new UnsettledPayments();

/** What an earlier page of this tab signed. Whether an answer came, only that page knew. */
function recall(): Map<string, SignedPayment> {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]') as [string, SignedPayment][];
    return new Map(stored.map(([key, payment]) => [key, { ...payment, unanswered: true }]));
  } catch {
    return new Map();
  }
}

/** Whether the service refused a payment for good: before it took it, or after the chain could. @param now Unix seconds */
export function isOver({ until, unanswered }: SignedPayment, error: unknown, now: number): boolean {
  const refused = error instanceof ApiProblem && REFUSALS.has(error.code);
  return refused && (!unanswered || now > until + GRACE_SECONDS);
}

const REFUSALS: ReadonlySet<string> = new Set(['payment_required', 'payment_malformed', 'payment_reused']);

/** The clocks of the chain and of the service may be behind that of this computer. */
const GRACE_SECONDS = 60;
