import {
  type ReserveOutcome,
  type ReserveRequest,
  type Settlement,
  type SettleOutcome,
} from '@tallystick/ledger';
import { isCallerAccount } from './caller-account.ts';
import type { Work } from './database-work.ts';
import { Books } from './ledger-books.ts';
import { isCovered, settleAll } from './ledger-settle.ts';
import type { Reservation } from './ledger-tables.ts';
import type { SqlDatabase } from './sql-database.ts';

export type LedgerWrite =
  | { readonly kind: 'reserve'; readonly reserve: ReserveRequest }
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  | { readonly kind: 'release'; readonly id: string };

export type LedgerOutcome = ReserveOutcome | SettleOutcome | 'released';

/** Carries out a batch of writes. Returns one outcome per write, in their order. */
export function* commitLedger(database: SqlDatabase, batch: readonly LedgerWrite[]): Work<LedgerOutcome[]> {
  const outcomes: LedgerOutcome[] = [];
  for (const round of rounds(batch)) outcomes.push(...(yield* commitRound(database, round)));
  return outcomes;
}

/** Cuts a batch before each write that concerns the same reservation or settlement as an earlier one. */
function rounds(batch: readonly LedgerWrite[]): LedgerWrite[][] {
  const cut: LedgerWrite[][] = [];
  let current: LedgerWrite[] = [];
  let seen = new Set<string>();
  for (const write of batch) {
    const keys = keysOf(write);
    if (keys.some((key) => seen.has(key))) {
      cut.push(current);
      current = [];
      seen = new Set();
    }
    current.push(write);
    for (const key of keys) seen.add(key);
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
function* commitRound(database: SqlDatabase, writes: readonly LedgerWrite[]): Work<LedgerOutcome[]> {
  const { ledgerTables: tables } = database;
  const reserves = writes.flatMap((write) => (write.kind === 'reserve' ? write.reserve : []));
  const settlements = writes.flatMap((write) => (write.kind === 'settle' ? write.settlement : []));
  const endings = writes.flatMap((write) => endedBy(write) ?? []);

  const held = yield* tables.lockReservations([...reserves.map(({ id }) => id), ...endings]);
  const ended = endings.flatMap((id) => held.get(id) ?? []);
  const covered = settlements.filter((settlement) => isCovered(settlement, held));
  const begun = reserves.filter(({ id }) => !held.has(id));
  const names = accountsOf(covered, begun, ended);
  const books = new Books();
  yield* tables.openAccounts(names.opened);
  books.add(yield* tables.lockAccounts(names.ofCallers));
  const { settled, unsettled } = yield* settleAll(database, settlements, covered);
  yield* tables.deleteReservations(ended.map(({ id }) => id));
  books.add(yield* tables.lockAccounts(names.common));

  endReservations(books, ended, settled);
  for (const { id, entries } of settled) books.post(id, entries);
  const outcomes = new Map<string, LedgerOutcome>();
  for (const [id, outcome] of unsettled) outcomes.set(`settle ${id}`, outcome);
  for (const { id } of settled) outcomes.set(`settle ${id}`, 'settled');
  const made = makeReservations(books, begun, outcomes);
  for (const { id, dust } of held.values())
    outcomes.set(`reserve ${id}`, { kind: 'reserved', dust, available: null });
  yield* tables.insertReservations(made);
  yield* tables.insertEntries(books.entries);
  yield* tables.setAccounts(books.changed());
  return writes.map((write) => outcomeOf(outcomes, write));
}

function endedBy(write: LedgerWrite): string | null {
  if (write.kind === 'settle') return write.settlement.reservationId;
  return write.kind === 'release' ? write.id : null;
}

function accountsOf(
  covered: readonly Settlement[],
  begun: readonly ReserveRequest[],
  ended: readonly Reservation[],
): Record<'opened' | 'ofCallers' | 'common', string[]> {
  const posted = covered.flatMap(({ entries }) => entries.map(({ account }) => account));
  const reserved = begun.map(({ account }) => account);
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

/**
 * Makes the reservations that the balances cover, one request after the other. Reserving 0 for a caller without an
 * account needs no row.
 */
function makeReservations(
  books: Books,
  begun: readonly ReserveRequest[],
  outcomes: Map<string, LedgerOutcome>,
): Reservation[] {
  return begun.flatMap(({ id, account, amount, expiresAt, process = null }) => {
    const available = books.available(account);
    const refused = isCallerAccount(account) && amount > available;
    const isBooked = !refused && books.has(account);
    const dust = isBooked ? books.reserve(account, amount) : 0n;
    outcomes.set(
      `reserve ${id}`,
      refused
        ? { kind: 'insufficient', available }
        : { kind: 'reserved', dust, available: books.available(account) },
    );
    return isBooked ? { id, account, amount, dust, expiresAt, process } : [];
  });
}

function outcomeOf(outcomes: ReadonlyMap<string, LedgerOutcome>, write: LedgerWrite): LedgerOutcome {
  if (write.kind === 'release') return 'released';
  const key = write.kind === 'reserve' ? `reserve ${write.reserve.id}` : `settle ${write.settlement.id}`;
  const outcome = outcomes.get(key);
  if (outcome === undefined) throw new RangeError('A write has no outcome.');
  return outcome;
}
