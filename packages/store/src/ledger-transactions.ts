import { type LedgerPosting, type LedgerStore, type Member } from '@tallystick/ledger';
import { isCallerAccount } from './caller-account.ts';
import { all, run, type Work } from './database-work.ts';
import { Books } from './ledger-books.ts';
import type { LedgerTables } from './ledger-tables.ts';
import type { Queries } from './queries.ts';
import type { SqlDatabase } from './sql-database.ts';

/** See {@link LedgerStore.post}. */
export function* post(
  { queries, ledgerTables: tables }: SqlDatabase,
  { id, memo, at, entries }: LedgerPosting,
): Work<Awaited<ReturnType<LedgerStore['post']>>> {
  const names = entries.map(({ account }) => account);
  yield* tables.openAccounts(names);
  const books = yield* lockBooks(tables, names);
  const [before] = yield* all(queries.postingById, { id });
  if (before !== undefined) return 'posted_before';
  for (const { account, amount } of entries) {
    const available = books.available(account);
    if (isCallerAccount(account) && available + amount < 0n) return { kind: 'insufficient', available };
  }
  yield* tables.insertPostings([{ id, memo, at, owner: null }]);
  books.post(id, entries);
  yield* tables.insertEntries(books.entries);
  yield* tables.setAccounts(books.changed());
  return 'posted';
}

/** See {@link LedgerStore.expireReservations}. */
export function* expireReservations(tables: LedgerTables, now: number, limit: number): Work<number> {
  const expired = yield* tables.takeExpired({ now, limit });
  const books = yield* lockBooks(
    tables,
    expired.map(({ account }) => account),
  );
  for (const { account, amount, dust } of expired) books.unreserve(account, amount, dust);
  yield* tables.setAccounts(books.changed());
  return expired.length;
}

/** Locks accounts in the order of {@link LedgerTables}. */
function* lockBooks(tables: LedgerTables, names: readonly string[]): Work<Books> {
  const books = new Books();
  const distinct = [...new Set(names)];
  books.add(yield* tables.lockAccounts(distinct.filter(isCallerAccount)));
  books.add(yield* tables.lockAccounts(distinct.filter((name) => !isCallerAccount(name))));
  return books;
}

/** See {@link LedgerStore.registerMember}. Tries again if another registration comes in between. */
export function* registerMember(
  queries: Pick<Queries, 'memberByDid' | 'memberByHandle' | 'insertMember'>,
  member: { readonly did: string; readonly handle: string | null; readonly at: number },
): Work<Member | 'handle_taken'> {
  const { did, handle, at } = member;
  for (;;) {
    const [earlier] = yield* all(queries.memberByDid, { did });
    if (earlier !== undefined) return earlier;
    const [holder] = handle === null ? [] : yield* all(queries.memberByHandle, { handle });
    // Another registration of the same member may have come in between.
    if (holder !== undefined) return holder.did === did ? holder : 'handle_taken';
    if ((yield* run(queries.insertMember, member)) === 1) return { did, handle, registeredAt: at, jobs: 0 };
  }
}
