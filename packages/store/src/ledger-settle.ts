import type { PutOutcome } from '@tallystick/kit';
import { type Settlement, type SettleOutcome } from '@tallystick/ledger';
import { isCallerAccount } from './caller-account.ts';
import { all, type Work } from './database-work.ts';
import type { CompressionOf, MethodOf, Reservation, SpendingOf, UsageOf } from './ledger-tables.ts';
import { putReceipts } from './put-receipts.ts';
import type { SqlDatabase } from './sql-database.ts';

const DAY_SECONDS = 86_400;

/** Whether the settlement debits no caller's account but that of its reservation, and no more than is reserved. */
export function isCovered(
  { reservationId, entries }: Settlement,
  held: ReadonlyMap<string, Reservation>,
): boolean {
  const reservation = reservationId === null ? undefined : held.get(reservationId);
  const debits = entries.filter(({ account, amount }) => amount < 0n && isCallerAccount(account));
  const total = debits.reduce((sum, { amount }) => sum - amount, 0n);
  return (
    debits.every(({ account }) => account === reservation?.account) && total <= (reservation?.amount ?? 0n)
  );
}

/**
 * Stores all but the entries of the covered settlements. Storing the receipts decides which settlements happen: not one
 * whose idempotency key is used, or that happened before. Returns what became of those, by id.
 */
export function* settleAll(
  database: SqlDatabase,
  settlements: readonly Settlement[],
  covered: readonly Settlement[],
): Work<{ settled: Settlement[]; unsettled: Map<string, SettleOutcome> }> {
  const { ledgerTables: tables } = database;
  const puts = covered.map(({ receipt, idempotency }) => ({ row: receipt, idempotency }));
  const stored = yield* putReceipts(database.receiptTables, puts);
  const settled = covered.filter((_, index) => stored[index]?.kind === 'stored');
  yield* tables.insertPostings(
    settled.map(({ id, at, usage, owner = null }) => ({ id, at, memo: usage.model, owner })),
  );
  yield* tables.addUsage(usageOf(settled));
  yield* tables.addSpending(spendingOf(settled));
  yield* tables.addCompression(compressionOf(settled));
  yield* tables.addMethods(methodsOf(settled));
  yield* tables.addJobs(jobsOf(settled));

  const outcomes = new Map(covered.map(({ id }, index) => [id, stored[index]]));
  const unsettled = new Map<string, SettleOutcome>();
  for (const { id } of settlements) {
    const put = outcomes.get(id);
    if (put?.kind !== 'stored') unsettled.set(id, yield* failureOf(database, id, put));
  }
  return { settled, unsettled };
}

/** Finds out why a settlement was not booked now. */
function* failureOf(database: SqlDatabase, id: string, put: PutOutcome | undefined): Work<SettleOutcome> {
  const [before] = yield* all(database.queries.postingById, { id });
  if (before !== undefined) return 'settled_before';
  if (put?.kind === 'replayed' || put?.kind === 'reused') return put;
  if (put?.kind === 'place_taken') return 'place_taken';
  return put === undefined ? 'unreserved' : 'id_taken';
}

function usageOf(settled: readonly Settlement[]): UsageOf[] {
  const rows = new Map<string, UsageOf>();
  for (const { at, usage } of settled) {
    const day = Math.floor(at / DAY_SECONDS);
    const key = JSON.stringify([usage.subject, day, usage.model]);
    const before = rows.get(key);
    rows.set(key, before === undefined ? { ...usage, day: dateOf(day), calls: 1 } : added(before, usage));
  }
  return [...rows.values()];
}

function spendingOf(settled: readonly Settlement[]): SpendingOf[] {
  const rows = new Map<string, SpendingOf>();
  for (const { at, usage, spenders = [] } of settled) {
    if (usage.charged === 0n) continue;
    for (const spender of spenders) {
      const day = dateOf(Math.floor(at / DAY_SECONDS));
      const key = `${day} ${spender}`;
      rows.set(key, { spender, day, charged: (rows.get(key)?.charged ?? 0n) + usage.charged });
    }
  }
  return [...rows.values()];
}

function added(row: UsageOf, more: Settlement['usage']): UsageOf {
  return {
    ...row,
    calls: row.calls + 1,
    promptTokens: row.promptTokens + more.promptTokens,
    completionTokens: row.completionTokens + more.completionTokens,
    cachedTokens: row.cachedTokens + more.cachedTokens,
    charged: row.charged + more.charged,
    savedTokens: row.savedTokens + more.savedTokens,
    saving: row.saving + more.saving,
    share: row.share + more.share,
  };
}

/**
 * The subject whose row sums up compression for all callers. No caller has this name. It sorts last, since all
 * transactions wait for its row.
 */
export const EVERYBODY = '~';

/** Sums by subject and day, and by day for everybody, so that no reader has to add up all subjects. */
function compressionOf(settled: readonly Settlement[]): CompressionOf[] {
  const rows = new Map<string, CompressionOf>();
  const add = (subject: string, { at, usage, compression }: Settlement): void => {
    if (compression === undefined || compression === null) return;
    const { saving, share } = usage;
    const day = dateOf(Math.floor(at / DAY_SECONDS));
    const key = JSON.stringify([subject, day]);
    const before = rows.get(key);
    const { changed, tokensBefore, tokensAfter, lostCacheTokens } = compression;
    rows.set(key, {
      subject,
      day,
      calls: (before?.calls ?? 0) + 1,
      changedCalls: (before?.changedCalls ?? 0) + (changed ? 1 : 0),
      tokensBefore: (before?.tokensBefore ?? 0) + tokensBefore,
      tokensAfter: (before?.tokensAfter ?? 0) + tokensAfter,
      lostCacheTokens: (before?.lostCacheTokens ?? 0) + lostCacheTokens,
      saving: (before?.saving ?? 0n) + saving,
      share: (before?.share ?? 0n) + share,
    });
  };
  for (const one of settled) {
    add(one.usage.subject, one);
    add(EVERYBODY, one);
  }
  return [...rows.values()];
}

/** The same sums for each compression method. */
function methodsOf(settled: readonly Settlement[]): MethodOf[] {
  const rows = new Map<string, MethodOf>();
  const add = (subject: string, { at, compression }: Settlement): void => {
    const day = dateOf(Math.floor(at / DAY_SECONDS));
    for (const [method, tokens] of Object.entries(compression?.methods ?? {})) {
      const key = JSON.stringify([subject, day, method]);
      const before = rows.get(key);
      const calls = (before?.calls ?? 0) + 1;
      rows.set(key, { subject, day, method, calls, tokens: (before?.tokens ?? 0) + tokens });
    }
  };
  for (const one of settled) {
    add(one.usage.subject, one);
    add(EVERYBODY, one);
  }
  return [...rows.values()];
}

/** The date of a day since the epoch: `2026-03-01`. */
function dateOf(day: number): string {
  return new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
}

function jobsOf(settled: readonly Settlement[]): Map<string, number> {
  const jobs = new Map<string, number>();
  for (const { jobOf } of settled) if (jobOf !== null) jobs.set(jobOf, (jobs.get(jobOf) ?? 0) + 1);
  return jobs;
}
