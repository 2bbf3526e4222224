import { setTimeout } from 'node:timers/promises';
import type { StepResult, Work } from './database-work.ts';
import { isConflict, publicError } from './postgres-errors.ts';
import type { PostgresLimits } from './postgres-limits.ts';
import type { PostgresPool, RunStatement } from './postgres-pool.ts';
import type { Durability } from './sql-database.ts';

/** Milliseconds for a statement that no request waits for: a migration, or the audit of a whole table. */
export const UNHURRIED_MS = 24 * 3_600_000;

/** How often a transaction is tried that others are preferred to. */
const MOST_TRIES = 6;
/** The most milliseconds before the last try. The pause before each earlier one is at most half of that before the next. */
const LONGEST_PAUSE_MS = 160;

/**
 * The statement that begins a transaction. A stopped process holds its locks no longer than it may be idle. It is one
 * round trip and sets only this transaction, so that it also works behind a pooler.
 * @param limits milliseconds; 0 for no limit
 */
export function begin(
  limits: Pick<PostgresLimits, 'statementMs' | 'lockMs' | 'idleTransactionMs'>,
  durability: Durability,
): string {
  const settings = [
    `idle_in_transaction_session_timeout = ${limits.idleTransactionMs}`,
    `statement_timeout = ${limits.statementMs}`,
    `lock_timeout = ${limits.lockMs}`,
    ...(durability === 'relaxed' ? ['synchronous_commit = off'] : []),
  ];
  return ['BEGIN ISOLATION LEVEL READ COMMITTED', ...settings.map((one) => `SET LOCAL ${one}`)].join('; ');
}

const NOT_ASKED: StepResult = { rows: [], changed: 0 };

/** Runs some work, with one round trip for each step whose result is needed. The others go with the next such step. */
export async function perform<T>(run: RunStatement, work: Work<T>, waitMs?: number): Promise<T> {
  const sent: Promise<StepResult>[] = [];
  let step = work.next();
  while (step.done !== true) {
    const { sql, values, isAwaited } = step.value;
    const answer = query(run, sql, values, waitMs);
    sent.push(answer);
    if (isAwaited) {
      // The first to fail says why: the server refuses all that follow it in the transaction.
      await Promise.all(sent.splice(0));
      step = work.next(await answer);
    } else {
      answer.catch(() => undefined);
      step = work.next(NOT_ASKED);
    }
  }
  await Promise.all(sent);
  return step.value;
}

export async function query(
  run: RunStatement,
  sql: string,
  values: unknown[] = [],
  waitMs?: number,
): Promise<StepResult> {
  try {
    const { rows, rowCount } = await run(sql, values, waitMs);
    return { rows, changed: rowCount ?? 0 };
  } catch (error) {
    throw publicError(error);
  }
}

/**
 * Runs work in a transaction, and once more, from its beginning, each time that the server rolled it back in favour of
 * another one. If the connection dies meanwhile, nobody knows whether it was committed: it rejects, so
 * that nothing is acknowledged, and a caller that tries again finds what was written.
 * @param work begins the work; called for each try
 */
export async function inTransaction<T>(
  pool: PostgresPool,
  beginning: string,
  work: () => Work<T>,
  waitMs?: number,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryTransaction(pool, beginning, work(), waitMs);
    } catch (error) {
      if (tries === MOST_TRIES || !isConflict(error)) throw error;
      // Those that met wait for different times, or they would meet again.
      await setTimeout(Math.random() * LONGEST_PAUSE_MS * 2 ** (tries - MOST_TRIES + 1));
    }
  }
}

/** Runs work in a transaction once. */
export function tryTransaction<T>(
  pool: PostgresPool,
  beginning: string,
  work: Work<T>,
  waitMs?: number,
): Promise<T> {
  return pool.use(async (run) => {
    await query(run, beginning);
    const result = await perform(run, work, waitMs);
    await query(run, 'COMMIT');
    return result;
  });
}
