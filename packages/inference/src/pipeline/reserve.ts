import { TallyError } from '@tallystick/core';
import type { Dust, LedgerStore, NanoUsdc } from '@tallystick/ledger';
import { DEVELOPMENT, formatUsdc, X402 } from '@tallystick/ledger';
import type { OpenPayment } from '@tallystick/payments';
import type { Model } from '../catalogue/catalogue.ts';

/** Money put aside for a call. */
export interface Reservation {
  /** Null where nothing is to be paid, so that nothing is put aside. */
  readonly id: string | null;
  readonly payer: string;
  readonly amount: NanoUsdc;
  readonly dust: Dust;
  /** What the caller's own account could spend beside it; null where that is not known, or where another pays. */
  readonly available: NanoUsdc | null;
}

/** A model that may serve the call, and the most that it can cost there. */
export interface Candidate {
  readonly model: Model;
  readonly ceiling: NanoUsdc;
}

export interface ReservationRequest {
  readonly id: string;
  readonly payer: string;
  /** In the order in which they are tried. */
  readonly candidates: readonly Candidate[];
  /** Counted exactly, where the balance does not cover what was bounded. */
  readonly exactly: () => Promise<readonly Candidate[]>;
  /** Whether the development account pays for who has too little. */
  readonly development: boolean;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** Id of this process's lease. */
  readonly process: string;
  /** Has an x402 payment cover a call, where the payer's own account does not; null where none may. */
  readonly open: Open | null;
}

/** See `Payments.open`. */
export type Open = (ceiling: NanoUsdc) => Promise<OpenPayment>;

export interface Reserved {
  readonly reservation: Reservation;
  readonly candidates: readonly Candidate[];
  /** The x402 payment that covers the call; null where an account does. */
  readonly payment: OpenPayment | null;
}

/**
 * Puts aside the most that the call can cost. Where the balance does not cover the dearest candidate, those that it
 * does not cover drop out.
 * @throws insufficient_balance, with what is there and what is needed
 */
export async function reserve(
  ledger: Pick<LedgerStore, 'reserve'>,
  wanted: ReservationRequest,
): Promise<Reserved> {
  const { payer, candidates, open } = wanted;
  const free = candidates.every(({ ceiling }) => ceiling === 0n);
  if (free) return { reservation: unreserved(payer), candidates, payment: null };
  if (open === null) return { ...(await fromAccount(ledger, wanted)), payment: null };
  if (payer === X402) return fromPayment(ledger, wanted, open);
  try {
    return { ...(await fromAccount(ledger, wanted)), payment: null };
  } catch (error) {
    if (error instanceof TallyError && error.code === 'insufficient_balance') {
      return fromPayment(ledger, wanted, open);
    }
    throw error;
  }
}

/** Nothing is to be paid, so nothing is put aside. */
export function unreserved(payer: string): Reservation {
  return { id: null, payer, amount: 0n, dust: 0n, available: null };
}

/** Of the payment's own account, where the money for the dearest candidate is put first. */
async function fromPayment(
  ledger: Pick<LedgerStore, 'reserve'>,
  { id, candidates, expiresAt, process }: ReservationRequest,
  open: Open,
): Promise<Reserved> {
  const amount = dearest(candidates);
  const payment = await open(amount);
  const { account } = payment;
  const outcome = await ledger.reserve({ id, account, amount, expiresAt, process });
  if (outcome.kind === 'reserved') {
    return {
      payment,
      candidates,
      reservation: { id, payer: account, amount, dust: outcome.dust, available: null },
    };
  }
  await payment.finish(null);
  throw insufficient(outcome.available, amount);
}

async function fromAccount(
  ledger: Pick<LedgerStore, 'reserve'>,
  wanted: ReservationRequest,
): Promise<Omit<Reserved, 'payment'>> {
  const { id, payer, expiresAt, process, development } = wanted;

  const put = async (candidates: readonly Candidate[], account = payer) => {
    const amount = dearest(candidates);
    const outcome = await ledger.reserve({ id, account, amount, expiresAt, process });
    if (outcome.kind === 'insufficient') return outcome;
    const { kind, dust } = outcome;
    const available = account === payer ? outcome.available : null;
    return { kind, candidates, reservation: { id, payer: account, amount, dust, available } };
  };

  let outcome = await put(wanted.candidates);
  if (outcome.kind === 'insufficient' && development) outcome = await put(wanted.candidates, DEVELOPMENT);
  if (outcome.kind === 'reserved') return outcome;
  const exact = await wanted.exactly();
  const { available } = outcome;
  const affordable = exact.filter(({ ceiling }) => ceiling <= available);
  if (affordable.length > 0) outcome = await put(affordable);
  if (outcome.kind === 'reserved') return outcome;
  throw insufficient(outcome.available, cheapest(exact));
}

function insufficient(available: NanoUsdc, needed: NanoUsdc): TallyError {
  return new TallyError(
    'insufficient_balance',
    `The call can cost up to ${formatUsdc(needed)} USDC, and only ${formatUsdc(available)} USDC are available. Top up the account, or lower max_completion_tokens.`,
  );
}

function dearest(candidates: readonly Candidate[]): NanoUsdc {
  return candidates.reduce((most, { ceiling }) => (ceiling > most ? ceiling : most), 0n);
}

function cheapest([first, ...rest]: readonly Candidate[]): NanoUsdc {
  return rest.reduce((least, { ceiling }) => (ceiling < least ? ceiling : least), first?.ceiling ?? 0n);
}
