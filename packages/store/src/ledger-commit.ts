import {
  type NanoUsdc,
  type ReserveOutcome,
  type ReserveRequest,
  type Settlement,
  type SettleOutcome,
  type Spending,
  spendingPeriods,
} from '@tallystick/ledger';
import { isCallerAccount } from './caller-account.ts';
import type { Work } from './database-work.ts';
import { Books } from './ledger-books.ts';
import { BatchLimits } from './ledger-limits.ts';
import { isCovered, settleAll } from './ledger-settle.ts';
import { RoundSlices, type SliceHold, type SliceState, sliceOf } from './ledger-slices.ts';
import type { Reservation } from './ledger-tables.ts';
import type { SqlDatabase } from './sql-database.ts';

interface ReserveWrite {
  readonly kind: 'reserve';
  readonly reserve: ReserveRequest;
  /** Id and end of the slice that the reservation may become, for other calls too. */
  readonly slice?: Pick<Reservation, 'id' | 'expiresAt'> | undefined;
}

export type LedgerWrite =
  | ReserveWrite
  /** `hold`: the money is that of a slice. */
  | { readonly kind: 'settle'; readonly settlement: Settlement; readonly hold?: SliceHold | undefined }
  | { readonly kind: 'release'; readonly id: string }
  /** Ends a slice but for what calls still hold of it. */
  | { readonly kind: 'shrink'; readonly id: string; readonly to: NanoUsdc };

/** `slice` is the amount of the slice that was made of the reservation. */
export type Reserved = ReserveOutcome & { readonly slice?: NanoUsdc };

export interface SettledHold {
  readonly outcome: SettleOutcome;
  /** Null where the slice is no more. */
  readonly slice: SliceState | null;
}

export type LedgerOutcome = Reserved | SettleOutcome | SettledHold | 'released';

/**
 * Carries out a batch of writes. Returns one outcome per write, in their order.
 * @param heldFor see `BatchLimits.read`
 */
export function* commitLedger(
  database: SqlDatabase,
  batch: readonly LedgerWrite[],
  heldFor: (spender: string) => NanoUsdc,
): Work<LedgerOutcome[]> {
  const outcomes: LedgerOutcome[] = [];
  for (const round of rounds(batch)) outcomes.push(...(yield* commitRound(database, round, heldFor)));
  return outcomes;
}

/**
 * Cuts a batch before each write that concerns the same reservation or settlement as an earlier one. Only settlements may
 * use one slice together.
 */
function rounds(batch: readonly LedgerWrite[]): LedgerWrite[][] {
  const cut: LedgerWrite[][] = [];
  let current: LedgerWrite[] = [];
  let seen = new Set<string>();
  let used = new Set<string>();
  for (const write of batch) {
    const keys = keysOf(write);
    const slice =
      write.kind === 'settle' && write.hold !== undefined ? `reservation ${write.hold.slice}` : '';
    if (seen.has(slice) || keys.some((key) => seen.has(key) || used.has(key))) {
      cut.push(current);
      current = [];
      seen = new Set();
      used = new Set();
    }
    current.push(write);
    for (const key of keys) seen.add(key);
    used.add(slice);
  }
  return [...cut, current];
}

function keysOf(write: LedgerWrite): string[] {
  if (write.kind !== 'settle')
    return [`reservation ${write.kind === 'reserve' ? write.reserve.id : write.id}`];
  const { id, reservationId } = write.settlement;
  return reservationId === null ? [`settlement ${id}`] : [`settlement ${id}`, `reservation ${reservationId}`];
}

/**
 * Ends reservations before it makes new ones, so that the money of an ended one is free at once. The accounts that all
 * settlements post to are locked last, and briefly.
 */
function* commitRound(
  database: SqlDatabase,
  writes: readonly LedgerWrite[],
  heldFor: (spender: string) => NanoUsdc,
): Work<LedgerOutcome[]> {
  const { ledgerTables: tables } = database;
  const reserves = writes.flatMap((write) => (write.kind === 'reserve' ? write : []));
  const settlements = writes.flatMap((write) => (write.kind === 'settle' ? write.settlement : []));
  const ofSlices = writes.flatMap((write) =>
    write.kind === 'settle' && write.hold !== undefined
      ? { settlement: write.settlement, hold: write.hold }
      : [],
  );
  const shrinks = writes.flatMap((write) => (write.kind === 'shrink' ? write : []));
  const endings = writes.flatMap((write) => endedBy(write) ?? []);

  const held = yield* tables.lockReservations([
    ...reserves.map(({ reserve }) => reserve.id),
    ...endings,
    ...new Set([...ofSlices.map(({ hold }) => hold.slice), ...shrinks.map(({ id }) => id)]),
  ]);
  const ended = endings.flatMap((id) => held.get(id) ?? []);
  const slices = new RoundSlices();
  const holds = slices.cover(ofSlices, held);
  const covers = new Map([...held, ...holds.map((hold) => [hold.id, hold] as const)]);
  const covered = settlements.filter((settlement) => isCovered(settlement, covers));
  const begun = reserves.filter(({ reserve }) => !held.has(reserve.id));
  const limits = new BatchLimits(
    begun.map(({ reserve }) => reserve),
    ended,
  );
  yield* limits.lock(database.counters);
  const names = accountsOf(covered, begun, [...ended, ...shrinks.flatMap(({ id }) => held.get(id) ?? [])]);
  const books = new Books();
  yield* tables.openAccounts(names.opened);
  books.add(yield* tables.lockAccounts(names.ofCallers));
  const { settled, unsettled } = yield* settleAll(database, settlements, covered);
  yield* tables.deleteReservations(ended.map(({ id }) => id));
  books.add(yield* tables.lockAccounts(names.common));

  endReservations(books, ended, settled);
  for (const { id, entries } of settled) books.post(id, entries);
  slices.settle(new Set(settled.map(({ id }) => id)), books);
  slices.shrink(shrinks, held, books);
  const outcomes = new Map<string, LedgerOutcome>();
  for (const [id, outcome] of unsettled) outcomes.set(`settle ${id}`, outcome);
  for (const { id } of settled) outcomes.set(`settle ${id}`, 'settled');
  giveBackTokens(limits, ended, settled);
  yield* limits.read(database.queries, heldFor);
  const made = makeReservations({ books, limits }, begun, outcomes);
  yield* limits.save(database.counters);
  for (const { id, dust } of held.values())
    outcomes.set(`reserve ${id}`, { kind: 'reserved', dust, available: null, windows: [] });
  yield* tables.insertReservations(made);
  yield* tables.setSlices(slices.changed());
  yield* tables.insertEntries(books.entries);
  yield* tables.setAccounts(books.changed());
  return writes.map((write) => outcomeOf(outcomes, write, (slice) => slices.stateOf(slice, books)));
}

function endedBy(write: LedgerWrite): string | null {
  if (write.kind === 'settle') return write.hold === undefined ? write.settlement.reservationId : null;
  return write.kind === 'release' ? write.id : null;
}

function accountsOf(
  covered: readonly Settlement[],
  begun: readonly ReserveWrite[],
  ended: readonly Reservation[],
): Record<'opened' | 'ofCallers' | 'common', string[]> {
  const posted = covered.flatMap(({ entries }) => entries.map(({ account }) => account));
  const reserved = begun.map(({ reserve }) => reserve.account);
  const touched = [...new Set([...posted, ...reserved, ...ended.map(({ account }) => account)])];
  return {
    // A missing account of a caller is not created, so that asking for money leaves no trace.
    opened: [...new Set([...posted, ...reserved.filter((account) => !isCallerAccount(account))])],
    ofCallers: touched.filter(isCallerAccount),
    common: touched.filter((account) => !isCallerAccount(account)),
  };
}

function endReservations(books: Books, ended: readonly Reservation[], settled: readonly Settlement[]): void {
  const left = new Map(settled.map(({ reservationId, dust }) => [reservationId, dust]));
  for (const { id, account, amount, dust } of ended) books.unreserve(account, amount, left.get(id) ?? dust);
}

function giveBackTokens(
  limits: BatchLimits,
  ended: readonly Reservation[],
  settled: readonly Settlement[],
): void {
  const used = new Map(
    settled.map(({ reservationId, usage }) => [reservationId, usage.promptTokens + usage.completionTokens]),
  );
  for (const reservation of ended) limits.giveBack(reservation, used.get(reservation.id) ?? 0);
}

/**
 * Makes the reservations that keep the limits and that the balances cover, one request after the other. Reserving 0 for
 * a caller without an account needs no row.
 */
function makeReservations(
  { books, limits }: { readonly books: Books; readonly limits: BatchLimits },
  begun: readonly ReserveWrite[],
  outcomes: Map<string, LedgerOutcome>,
): Reservation[] {
  return begun.flatMap(({ reserve: request, slice }) => {
    const { id, account, amount, expiresAt, process = null, spending } = request;
    const { by, windows } = limits.check(request);
    if (by !== null) {
      outcomes.set(`reserve ${id}`, { kind: 'limited', by, windows });
      return [];
    }
    const available = books.available(account);
    if (isCallerAccount(account) && amount > available) {
      outcomes.set(`reserve ${id}`, { kind: 'insufficient', available });
      return [];
    }
    const isBooked = books.has(account);
    const share = slice === undefined ? null : sliceOf(available, amount);
    const dust = isBooked ? books.reserve(account, share ?? amount) : 0n;
    limits.count(request);
    outcomes.set(`reserve ${id}`, {
      kind: 'reserved',
      dust,
      available: books.available(account),
      windows: limits.windowsOf(spending),
      ...(share !== null && { slice: share }),
    });
    if (slice !== undefined && share !== null)
      return { ...slice, account, amount: share, dust, process, ...countedIn(undefined), slice: 'open' };
    const row = { id, account, amount, dust, expiresAt, process, ...countedIn(spending), slice: null };
    return isBooked || row.tokens > 0 ? row : [];
  });
}

/** What a reservation remembers of the spending that it counts in. */
function countedIn(
  spending: Spending | undefined,
): Pick<Reservation, 'spender' | 'owner' | 'tokens' | 'minute'> {
  if (spending === undefined) return { spender: null, owner: null, tokens: 0, minute: 0 };
  const [spender = null, owner = null] = spending.spenders;
  const isLimited = spending.limits.some(({ tokensPerMinute }) => tokensPerMinute !== null);
  const { minute } = spendingPeriods(spending.at);
  return { spender, owner, tokens: isLimited ? spending.tokens : 0, minute };
}

function outcomeOf(
  outcomes: ReadonlyMap<string, LedgerOutcome>,
  write: LedgerWrite,
  stateOf: (slice: string) => SliceState | null,
): LedgerOutcome {
  if (write.kind === 'release' || write.kind === 'shrink') return 'released';
  const key = write.kind === 'reserve' ? `reserve ${write.reserve.id}` : `settle ${write.settlement.id}`;
  const outcome = outcomes.get(key);
  if (outcome === undefined) throw new RangeError('A write has no outcome.');
  if (write.kind === 'reserve' || write.hold === undefined) return outcome;
  return { outcome: outcome as SettleOutcome, slice: stateOf(write.hold.slice) };
}
