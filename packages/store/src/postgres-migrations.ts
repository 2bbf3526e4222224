import { setTimeout } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { all, run, type Work } from './database-work.ts';
import { makeIndex, migrate, type PendingIndex, recordVersion } from './migrations/migrate.ts';
import type { ColumnTypes } from './migrations/migration.ts';
import { sqlState } from './postgres-errors.ts';
import type { PostgresLimits } from './postgres-limits.ts';
import type { PostgresPool, RunStatement } from './postgres-pool.ts';
import { begin, inTransaction, perform, query, UNHURRIED_MS } from './postgres-work.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';

/** Held while the schema changes. An arbitrary constant, which must be the same in every release. */
const SCHEMA_LOCK = 7_462_559;
/** Held from the first change to the last index. Another constant of that kind. */
const UPGRADE_LOCK = 7_462_560;

/**
 * Milliseconds that a change waits for a lock on a table. All later statements on that table wait behind it, so it gives
 * up and tries again.
 */
const LOCK_MS = 1_000;
/** Milliseconds until a lock that was not free is asked for again. */
const AGAIN_MS = 200;

const COLUMNS: ColumnTypes = {
  key: sql`text collate "C"`,
  bytes: sql`bytea`,
  ordinal: sql`bigint`,
  clustered: sql``,
};

/**
 * Brings a database to the newest version. Any number of processes may call this at once, and others may write
 * meanwhile: indexes of tables with rows are made concurrently.
 *
 * PostgreSQL makes an index only after every transaction with an older snapshot has ended. So no process may wait for the
 * upgrade within a statement: each asks for the lock in a transaction that ends at once, and the transaction that holds
 * the lock runs no statement.
 *
 * @throws {TallyError} `unavailable` when the server cannot be reached, or a newer release has taken away what this one uses
 */
export async function migratePostgres(
  pool: PostgresPool,
  db: Kysely<Schema>,
  limits: PostgresLimits,
): Promise<void> {
  await pool.use(async (run) => {
    while (!(await lockUpgrade(run, limits))) {
      await query(run, 'ROLLBACK');
      await setTimeout(AGAIN_MS);
    }
    for (;;) {
      const pending = await changeSchema(pool, limits, () => migrateAlone(db));
      if (pending === null) break;
      await pool.use((alone) => addIndex(alone, db, pending, limits));
      await changeSchema(pool, limits, () => recordVersion(db, pending.version, pending));
    }
    await query(run, 'COMMIT');
  });
}

/**
 * Begins a transaction that may be idle for long, and returns whether it has the lock. The statement has no parameters,
 * because the server keeps one with parameters open, together with its snapshot, until the next statement.
 */
async function lockUpgrade(run: RunStatement, limits: PostgresLimits): Promise<boolean> {
  await query(run, begin({ ...limits, idleTransactionMs: 0 }, 'durable'));
  // So the server notices within a minute when this machine is gone.
  await query(
    run,
    'SET LOCAL tcp_keepalives_idle = 30; SET LOCAL tcp_keepalives_interval = 10; SET LOCAL tcp_keepalives_count = 3',
  );
  const { rows } = await query(run, `SELECT pg_try_advisory_xact_lock(${UPGRADE_LOCK}) AS locked`);
  return (rows as { locked: boolean }[])[0]?.locked === true;
}

function* migrateAlone(db: Kysely<Schema>): Work<PendingIndex | null> {
  const lock = statement((v: { key: number }) =>
    db.selectNoFrom(sql`pg_advisory_xact_lock(cast(${v.key} as bigint))`.as('locked')),
  );
  yield* all(lock, { key: SCHEMA_LOCK });
  return yield* migrate(db, COLUMNS);
}

/** Runs work in a transaction of its own, again and again until it gets its locks. */
async function changeSchema<T>(pool: PostgresPool, limits: PostgresLimits, work: () => Work<T>): Promise<T> {
  const beginning = begin({ ...limits, statementMs: 0, lockMs: LOCK_MS }, 'durable');
  for (;;) {
    try {
      return await inTransaction(pool, beginning, work, UNHURRIED_MS);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      await setTimeout(AGAIN_MS);
    }
  }
}

/** Whether an error of `publicError` says that a lock was not free in time. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && sqlState(error.cause) === '55P03';
}

/** Makes an index while others write. If an earlier attempt has left it unfinished, it is dropped first. */
async function addIndex(
  runStatement: RunStatement,
  db: Kysely<Schema>,
  pending: PendingIndex,
  { statementMs }: PostgresLimits,
): Promise<void> {
  const { name } = pending.index;
  const unfinished = statement((v: { name: string }) =>
    raw<{ name: string }>(
      db,
      sql`select indexrelid::regclass::text as name from pg_index where indexrelid = to_regclass(${v.name}) and not indisvalid`,
    ),
  );
  const drop = statement(() => raw(db, sql`drop index concurrently if exists ${sql.ref(name)}`));
  await query(runStatement, 'SET statement_timeout = 0');
  const left = await perform(runStatement, all(unfinished, { name }));
  if (left.length > 0) await perform(runStatement, run(drop, {}), UNHURRIED_MS);
  await perform(runStatement, run(makeIndex(db, pending, sql`concurrently`), {}), UNHURRIED_MS);
  await query(runStatement, `SET statement_timeout = ${statementMs}`);
}
