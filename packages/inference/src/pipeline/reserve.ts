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
  /** Counts exactly, if the balance or the limits do not cover the upper bounds. */
  readonly exactly: () => Promise<readonly Candidate[]>;
  /** Absent of a stranger's call. */
  readonly spending: Omit<Spending, 'tokens'> | undefined;
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
 * Reserves the most that the call can cost. If the balance or the limits do not cover the dearest candidate, the candidates
 * that they do not cover are dropped.
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
  const payment = await open(dearest(request.candidates));
  const made = await fitting(request, (candidates) => ask(ledger, request, candidates, payment.account));
  if (made.kind === 'reserved')
    return { ...made, payment, reservation: { ...made.reservation, available: null } };
  await payment.finish(null);
  throw made.refusal;
}

interface Made {
  readonly kind: 'reserved';
  readonly reservation: Reservation;
  readonly candidates: readonly Candidate[];
}

/** Asks the ledger for the most that the candidates can cost, of an account. */
async function ask(
  ledger: Pick<LedgerStore, 'reserve'>,
  { id, expiresAt, process, spending, tell }: ReservationRequest,
  candidates: readonly Candidate[],
  account: string,
): Promise<Made | Unreserved> {
  const amount = dearest(candidates);
  const tokens = Math.max(...candidates.map((one) => one.tokens));
  const outcome = await ledger.reserve({
    id,
    account,
    amount,
    expiresAt,
    process,
    ...(spending !== undefined && { spending: { ...spending, tokens } }),
  });
  if (outcome.kind !== 'reserved') return outcome;
  tell(outcome.windows);
  const { dust, available } = outcome;
  const spenders = spending?.spenders ?? [];
  const reservation = { id, payer: account, amount, dust, available, spenders };
  return { kind: 'reserved', reservation, candidates };
}

type Unreserved = Exclude<ReserveOutcome, { readonly kind: 'reserved' }>;

async function fromAccount(
  ledger: Pick<LedgerStore, 'reserve'>,
  request: ReservationRequest,
): Promise<Omit<Reserved, 'payment'>> {
  const { payer, development } = request;
  const made = await fitting(request, async (candidates) => {
    const own = await ask(ledger, request, candidates, payer);
    if (own.kind !== 'insufficient' || !development) return own;
    return ask(ledger, request, candidates, DEVELOPMENT);
  });
  if (made.kind === 'refused') throw made.refusal;
  const { reservation, candidates } = made;
  const available = reservation.payer === payer ? reservation.available : null;
  return { candidates, reservation: { ...reservation, available } };
}

/** Reserves for all candidates by the upper bounds, else for those that fit what is left when they are counted exactly. */
async function fitting(
  request: ReservationRequest,
  reserveFor: (candidates: readonly Candidate[]) => Promise<Made | Unreserved>,
): Promise<Made | { readonly kind: 'refused'; readonly refusal: TallyError }> {
  const bounds = request.candidates;
  const first = await reserveFor(bounds);
  if (first.kind === 'reserved') return first;
  const needed = { amount: dearest(bounds), tokens: 0 };
  if (first.kind === 'limited' && first.by.kind === 'requests')
    return { kind: 'refused', refusal: refusal(first, needed, request) };
  const exact = await request.exactly();
  const affordable = exact.filter((one) => fits(one, first));
  const outcome = affordable.length > 0 ? await reserveFor(affordable) : first;
  if (outcome.kind === 'reserved') return outcome;
  return { kind: 'refused', refusal: refusal(outcome, cheapest(exact), request) };
}

/** Whether what is left is enough for a candidate. */
function fits({ ceiling, tokens }: Candidate, outcome: Unreserved): boolean {
  if (outcome.kind === 'insufficient') return ceiling <= outcome.available;
  const adds = { day: ceiling, month: ceiling, requests: 1n, tokens: BigInt(tokens) };
  return outcome.windows.every((window) => adds[window.kind] <= leftOf(window));
}

function refusal(
  outcome: Unreserved,
  needed: { readonly amount: NanoUsdc; readonly tokens: number },
  { spending, tell, budgetReached }: Pick<ReservationRequest, 'spending' | 'tell' | 'budgetReached'>,
): TallyError {
  if (outcome.kind === 'insufficient') return insufficient(outcome.available, needed.amount);
  tell(outcome.windows);
  for (const window of outcome.windows) if (isUsedUp(window, needed.amount)) budgetReached(window);
  return limitRefusal(outcome, needed, (spending?.at ?? 0) * 1000);
}

function insufficient(available: NanoUsdc, needed: NanoUsdc): TallyError {
  return new TallyError(
    'insufficient_balance',
    `The call can cost up to ${formatUsdc(needed)} USDC, and only ${formatUsdc(available)} USDC are available. Top up the account, or allow fewer output tokens.`,
  );
}

function dearest(candidates: readonly Candidate[]): NanoUsdc {
  return candidates.reduce((most, { ceiling }) => (ceiling > most ? ceiling : most), 0n);
}

/** The least that any of the candidates can cost, and use. */
function cheapest(candidates: readonly Candidate[]): { readonly amount: NanoUsdc; readonly tokens: number } {
  const [first, ...rest] = candidates.map(({ ceiling }) => ceiling);
  const amount = rest.reduce((least, one) => (one < least ? one : least), first ?? 0n);
  return { amount, tokens: Math.min(...candidates.map(({ tokens }) => tokens)) };
}
