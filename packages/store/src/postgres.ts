import { TallyError } from '@tallystick/core';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { TypeOverrides } from 'pg';
import { all, run, type StepResult, type Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { migrate } from './migrations/migrate.ts';
import type { ColumnTypes } from './migrations/migration.ts';
import { publicError, sqlState } from './postgres-errors.ts';
import { postgresLeafPositions } from './postgres-leaf-positions.ts';
import { POSTGRES_LIMITS, type PostgresLimits } from './postgres-limits.ts';
import { PostgresPool, type RunStatement } from './postgres-pool.ts';
import { postgresRows } from './postgres-rows.ts';
import type { Schema } from './schema.ts';
import { type Durability, type Pace, type SqlDatabase, sharedStatements } from './sql-database.ts';
import { SqlStore } from './sql-store.ts';
import { raw, statement } from './statement.ts';
import type { Store } from './store.ts';

/** Milliseconds for a statement that no request waits for: a migration, or the audit of a whole table. */
const UNHURRIED_MS = 24 * 3_600_000;

/** An arbitrary constant, which must be the same in every release. */
const MIGRATION_LOCK = 7_462_559;

const COLUMNS: ColumnTypes = {
  key: sql`text collate "C"`,
  bytes: sql`bytea`,
  ordinal: sql`bigint`,
  clustered: sql``,
};

const DIALECT: Dialect = {
  forUpdate: sql`for update`,
  skipLocked: sql`for update skip locked`,
  now: sql<number>`extract(epoch from clock_timestamp())::float8`,
  json: (text) => sql`cast(${text} as json)`,
  soleWriter: false,
  rows: postgresRows,
};

/**
 * The statement that begins a transaction. A stopped process holds its locks no longer than it may be idle. It is one
 * round trip and sets only this transaction, so that it also works behind a pooler.
 */
function begin(limits: PostgresLimits, durability: Durability, pace: Pace): string {
  const [statementMs, lockMs] = pace === 'served' ? [limits.statementMs, limits.lockMs] : [0, 0];
  const settings = [
    `idle_in_transaction_session_timeout = ${limits.idleTransactionMs}`,
    `statement_timeout = ${statementMs}`,
    `lock_timeout = ${lockMs}`,
    ...(durability === 'durable' ? [] : ['synchronous_commit = off']),
  ];
  return ['BEGIN ISOLATION LEVEL READ COMMITTED', ...settings.map((one) => `SET LOCAL ${one}`)].join('; ');
}

const BYTEA = 17;
const INT8 = 20;
const JSON_TEXT = 114;

/**
 * Opens the store in a PostgreSQL database (15 or newer) and brings it to the newest version. Any number of
 * processes may open it. Durable as far as the server's `synchronous_commit` is on, which is its default.
 *
 * @throws {TallyError} `unavailable` when the server cannot be reached, or a newer release wrote the database.
 */
export async function openPostgresStore(
  url: string,
  limits: PostgresLimits = POSTGRES_LIMITS,
): Promise<Store> {
  const pool = new PostgresPool({ url, limits, types: typeParsers() });
  try {
    return new SqlStore(await openDatabase(pool, limits));
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** Reads bytes as `Uint8Array`, integers as numbers (all are below 2^53), and JSON as its text. */
function typeParsers(): TypeOverrides {
  const parsers = new TypeOverrides();
  parsers.setTypeParser(BYTEA, fromByteaHex);
  parsers.setTypeParser(INT8, Number);
  parsers.setTypeParser(JSON_TEXT, (text) => text);
  return parsers;
}

/** Reads bytes as the server writes them: `\x` and hex. */
function fromByteaHex(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text.slice(2), 'hex');
  return new Uint8Array(buffer, byteOffset, length);
}

async function openDatabase(pool: PostgresPool, limits: PostgresLimits): Promise<SqlDatabase> {
  const compiler = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const transaction = <T>(work: Work<T>, durability: Durability, pace: Pace): Promise<T> =>
    inTransaction(pool, begin(limits, durability, pace), work, pace);
  await transaction(migrateAlone(compiler), 'durable', 'unhurried');
  const lock = statement(() => raw(compiler, sql`lock table documents in share row exclusive mode`));
  return {
    ...sharedStatements(compiler, DIALECT),
    read: (work, pace = 'served') =>
      pace === 'served' ? pool.use((run) => perform(run, work)) : transaction(work, 'durable', pace),
    transaction: (work, durability = 'durable') => transaction(work, durability, 'served'),
    positionsOfLeaves: postgresLeafPositions(compiler),
    *lockDocuments() {
      yield* run(lock, {});
    },
    isRowFault: (error) => /^2[23]/.test(sqlState(error) ?? ''),
    backup: () =>
      Promise.reject(new TallyError('unavailable', 'A PostgreSQL database is backed up with pg_dump.')),
    close: () => pool.close(),
  };
}

function* migrateAlone(db: Kysely<Schema>): Work<void> {
  const lock = statement((v: { key: number }) =>
    db.selectNoFrom(sql`pg_advisory_xact_lock(cast(${v.key} as bigint))`.as('locked')),
  );
  yield* all(lock, { key: MIGRATION_LOCK });
  yield* migrate(db, COLUMNS);
}

/** Runs some work, with one round trip per step. */
async function perform<T>(run: RunStatement, work: Work<T>, waitMs?: number): Promise<T> {
  let step = work.next();
  while (step.done !== true) step = work.next(await query(run, step.value.sql, step.value.values, waitMs));
  return step.value;
}

async function query(
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
 * Runs work in a transaction. If the connection dies meanwhile, nobody knows whether it was committed: it rejects, so
 * that nothing is acknowledged, and a caller that tries again finds what was written.
 */
function inTransaction<T>(pool: PostgresPool, beginning: string, work: Work<T>, pace: Pace): Promise<T> {
  return pool.use(async (run) => {
    await query(run, beginning);
    const result = await perform(run, work, pace === 'served' ? undefined : UNHURRIED_MS);
    await query(run, 'COMMIT');
    return result;
  });
}
