import { TallyError } from '@tallystick/core';
import type { Dust, LedgerStore, NanoUsdc } from '@tallystick/ledger';
import { DEVELOPMENT, formatUsdc, X402 } from '@tallystick/ledger';
import type { OpenPayment } from '@tallystick/payments';
import type { Model } from '../catalogue/catalogue.ts';

/** Money reserved for a call. */
export interface Reservation {
  /** Null if nothing is to be paid, and so nothing is reserved. */
  readonly id: string | null;
  readonly payer: string;
  readonly amount: NanoUsdc;
  readonly dust: Dust;
  /** What the caller's account can still spend; null if unknown, or if another account pays. */
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
  /** Candidates in the order in which they are tried. */
  readonly candidates: readonly Candidate[];
  /** Counts exactly, if the balance does not cover the upper bounds. */
  readonly exactly: () => Promise<readonly Candidate[]>;
  /** Whether the development account pays for callers with too little. */
  readonly development: boolean;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** Id of this process's lease. */
  readonly process: string;
  /** Covers a call by an x402 payment if the payer's own account does not; null if that is not possible. */
  readonly open: Open | null;
}

export type Open = (ceiling: NanoUsdc) => Promise<OpenPayment>;

export interface Reserved {
  readonly reservation: Reservation;
  readonly candidates: readonly Candidate[];
  /** The x402 payment that covers the call; null if an account does. */
  readonly payment: OpenPayment | null;
}

/**
 * Reserves the most that the call can cost. If the balance does not cover the dearest candidate, the candidates that it
 * does not cover are dropped.
 * @throws insufficient_balance, with the balance and the needed amount
 */
export async function reserve(
  ledger: Pick<LedgerStore, 'reserve'>,
  request: ReservationRequest,
): Promise<Reserved> {
  const { payer, candidates, open } = request;
  const free = candidates.every(({ ceiling }) => ceiling === 0n);
  if (free) return { reservation: unreserved(payer), candidates, payment: null };
  if (open === null) return { ...(await fromAccount(ledger, request)), payment: null };
  if (payer === X402) return fromPayment(ledger, request, open);
  try {
    return { ...(await fromAccount(ledger, request)), payment: null };
  } catch (error) {
    if (error instanceof TallyError && error.code === 'insufficient_balance') {
      return fromPayment(ledger, request, open);
    }
    throw error;
  }
}

/** No reservation, since nothing is to be paid. */
export function unreserved(payer: string): Reservation {
  return { id: null, payer, amount: 0n, dust: 0n, available: null };
}

/** Reserves from the payment's own account, after the money for the dearest candidate was put there. */
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
  request: ReservationRequest,
): Promise<Omit<Reserved, 'payment'>> {
  const { id, payer, expiresAt, process, development } = request;

  const reserveFor = async (candidates: readonly Candidate[], account = payer) => {
    const amount = dearest(candidates);
    const outcome = await ledger.reserve({ id, account, amount, expiresAt, process });
    if (outcome.kind === 'insufficient') return outcome;
    const { kind, dust } = outcome;
    const available = account === payer ? outcome.available : null;
    return { kind, candidates, reservation: { id, payer: account, amount, dust, available } };
  };

  let outcome = await reserveFor(request.candidates);
  if (outcome.kind === 'insufficient' && development)
    outcome = await reserveFor(request.candidates, DEVELOPMENT);
  if (outcome.kind === 'reserved') return outcome;
  const exact = await request.exactly();
  const { available } = outcome;
  const affordable = exact.filter(({ ceiling }) => ceiling <= available);
  if (affordable.length > 0) outcome = await reserveFor(affordable);
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
