import { isUsedUp, leftOf, limitRefusal } from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import type {
  Dust,
  LedgerStore,
  NanoUsdc,
  ReserveOutcome,
  Spending,
  SpendingWindow,
} from '@tallystick/ledger';
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
  /** Whose spending the charge counts in. */
  readonly spenders: readonly string[];
}

/** A model that may serve the call, and the most that it can cost and use there. */
export interface Candidate {
  readonly model: Model;
  readonly ceiling: NanoUsdc;
  readonly tokens: number;
}

export interface ReservationRequest {
  readonly id: string;
  readonly payer: string;
  /** Candidates in the order in which they are tried. */
  readonly candidates: readonly Candidate[];
  /** Counts exactly, if the balance does not cover the upper bounds. */
  readonly exactly: () => Promise<readonly Candidate[]>;
  /** Absent of a stranger's call. */
  readonly spending: Spending | undefined;
  /** Told what the limits leave, whether the call is reserved or refused. */
  readonly tell: (windows: readonly SpendingWindow[]) => void;
  /** Told of each budget that a refused call would have passed whatever becomes of the calls under way. */
  readonly budgetReached: (budget: SpendingWindow) => void;
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
 * @throws insufficient_balance, with the balance and the needed amount; budget_exceeded, rate_limited
 */
export async function reserve(
  ledger: Pick<LedgerStore, 'reserve'>,
  request: ReservationRequest,
): Promise<Reserved> {
  const { payer, candidates, open, spending } = request;
  const free = candidates.every(({ ceiling }) => ceiling === 0n);
  const counted = spending !== undefined && spending.limits.length > 0;
  if (free && !counted) return { reservation: unreserved(payer, spending), candidates, payment: null };
  if (open === null || free) return { ...(await fromAccount(ledger, request)), payment: null };
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
export function unreserved(payer: string, spending?: Pick<Spending, 'spenders'>): Reservation {
  const spenders = spending?.spenders ?? [];
  return { id: null, payer, amount: 0n, dust: 0n, available: null, spenders };
}

/** Reserves from the payment's own account, after the money for the dearest candidate was put there. */
async function fromPayment(
  ledger: Pick<LedgerStore, 'reserve'>,
  request: ReservationRequest,
  open: Open,
): Promise<Reserved> {
  const { candidates } = request;
  const amount = dearest(candidates);
  const payment = await open(amount);
  const outcome = await ask(ledger, request, { amount, account: payment.account });
  if (outcome.kind === 'reserved')
    return { payment, candidates, reservation: { ...outcome.reservation, available: null } };
  await payment.finish(null);
  throw refusal(outcome, amount, request);
}

/** Asks the ledger for an amount of an account. */
async function ask(
  ledger: Pick<LedgerStore, 'reserve'>,
  { id, expiresAt, process, spending, tell }: ReservationRequest,
  { amount, account }: { readonly amount: NanoUsdc; readonly account: string },
): Promise<{ readonly kind: 'reserved'; readonly reservation: Reservation } | Unreserved> {
  const outcome = await ledger.reserve({
    id,
    account,
    amount,
    expiresAt,
    process,
    ...(spending !== undefined && { spending }),
  });
  if (outcome.kind !== 'reserved') return outcome;
  tell(outcome.windows);
  const { dust, available } = outcome;
  const spenders = spending?.spenders ?? [];
  return { kind: 'reserved', reservation: { id, payer: account, amount, dust, available, spenders } };
}

type Unreserved = Exclude<ReserveOutcome, { readonly kind: 'reserved' }>;

async function fromAccount(
  ledger: Pick<LedgerStore, 'reserve'>,
  request: ReservationRequest,
): Promise<Omit<Reserved, 'payment'>> {
  const { payer, development } = request;

  const reserveFor = async (candidates: readonly Candidate[], account = payer) => {
    const outcome = await ask(ledger, request, { amount: dearest(candidates), account });
    if (outcome.kind !== 'reserved') return outcome;
    const { available } = outcome.reservation;
    const reservation = { ...outcome.reservation, available: account === payer ? available : null };
    return { kind: 'reserved' as const, candidates, reservation };
  };

  let outcome = await reserveFor(request.candidates);
  if (outcome.kind === 'insufficient' && development)
    outcome = await reserveFor(request.candidates, DEVELOPMENT);
  if (outcome.kind === 'reserved') return outcome;
  const left = leftFor(outcome);
  if (left === null) throw refusal(outcome, dearest(request.candidates), request);
  const exact = await request.exactly();
  const affordable = exact.filter(({ ceiling }) => ceiling <= left);
  if (affordable.length > 0) outcome = await reserveFor(affordable);
  if (outcome.kind === 'reserved') return outcome;
  throw refusal(outcome, cheapest(exact), request);
}

/** The amount that a call may cost to be reserved after all; null where no amount is small enough. */
function leftFor(outcome: Unreserved): NanoUsdc | null {
  if (outcome.kind === 'insufficient') return outcome.available;
  const { by, windows } = outcome;
  if (by.kind === 'requests' || by.kind === 'tokens') return null;
  return windows
    .filter(({ kind }) => kind === 'day' || kind === 'month')
    .map(leftOf)
    .reduce((least, one) => (one < least ? one : least));
}

function refusal(
  outcome: Unreserved,
  needed: NanoUsdc,
  { spending, tell, budgetReached }: Pick<ReservationRequest, 'spending' | 'tell' | 'budgetReached'>,
): TallyError {
  if (outcome.kind === 'insufficient') return insufficient(outcome.available, needed);
  tell(outcome.windows);
  for (const window of outcome.windows) if (isUsedUp(window, needed)) budgetReached(window);
  return limitRefusal(outcome, needed, (spending?.at ?? 0) * 1000);
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
