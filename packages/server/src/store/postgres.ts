import { TallyError } from '@tallystick/core';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { DatabaseError, Pool, type PoolClient, TypeOverrides } from 'pg';
import type { Dialect } from './dialect.ts';
import { type ColumnTypes, migrate } from './migrations/migrate.ts';
import { postgresCounters } from './postgres-counters.ts';
import { postgresLedgerTables } from './postgres-ledger-tables.ts';
import { postgresLogTables } from './postgres-log-tables.ts';
import { postgresWrites } from './postgres-writes.ts';
import { sharedQueries } from './queries.ts';
import type { Schema } from './schema.ts';
import type { Durability, SqlDatabase } from './sql-database.ts';
import { SqlStore } from './sql-store.ts';
import { raw, statement } from './statement.ts';
import type { Store } from './store.ts';
import { all, run, type StepResult, type Work } from './work.ts';

const CONNECT_MS = 5_000;

/** Any constant will do, as long as every release takes the same. */
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
};

/**
 * A process that stops in the middle of a transaction holds its locks no longer than this. In one round trip,
 * and for the transaction alone, so that it also holds behind a pooler.
 */
const BEGIN = `
  BEGIN ISOLATION LEVEL READ COMMITTED;
  SET LOCAL idle_in_transaction_session_timeout = '3s'`;

const BEGIN_RELAXED = `${BEGIN}; SET LOCAL synchronous_commit = off`;

const BYTEA = 17;
const INT8 = 20;
const JSON_TEXT = 114;

/**
 * Opens the store in a PostgreSQL database (15 or newer) and brings it to the newest version. Any number of
 * processes may open it. Durable as far as the server's `synchronous_commit` is on, which is its default.
 *
 * @throws {TallyError} `unavailable` when the server cannot be reached, or a newer release wrote the database.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const pool = new Pool({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    types: typeParsers(),
  });
  // A connection that breaks while idle has left the pool already; unheard, the event would end the process.
  pool.on('error', () => undefined);
  // One that breaks while in use rejects its query as well, which is where it is dealt with.
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    return new SqlStore(await openDatabase(pool));
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Bytes as `Uint8Array`; integers as numbers, all within 2^53; JSON as the text it is. */
function typeParsers(): TypeOverrides {
  const parsers = new TypeOverrides();
  parsers.setTypeParser(BYTEA, fromByteaHex);
  parsers.setTypeParser(INT8, Number);
  parsers.setTypeParser(JSON_TEXT, (text) => text);
  return parsers;
}

/** Bytes as the server writes them, `\x` and hex. */
function fromByteaHex(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text.slice(2), 'hex');
  return new Uint8Array(buffer, byteOffset, length);
}

async function openDatabase(pool: Pool): Promise<SqlDatabase> {
  const compiler = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  await inTransaction(pool, migrateAlone(compiler));
  const lock = statement(() => raw(compiler, sql`lock table documents in share row exclusive mode`));
  return {
    queries: sharedQueries(compiler, DIALECT),
    counters: postgresCounters(compiler),
    logTables: postgresLogTables(compiler),
    ledgerTables: postgresLedgerTables(compiler),
    read: (work) => withClient(pool, (client) => perform(client, work)),
    transaction: (work, durability) => inTransaction(pool, work, durability),
    putReceipts: postgresWrites(compiler),
    *lockDocuments() {
      yield* run(lock, {});
    },
    isRowFault: (error) => /^2[23]/.test(sqlState(error) ?? ''),
    backup: () =>
      Promise.reject(new TallyError('unavailable', 'A PostgreSQL database is backed up with pg_dump.')),
    close: () => pool.end(),
  };
}

function* migrateAlone(db: Kysely<Schema>): Work<void> {
  const lock = statement((v: { key: number }) =>
    db.selectNoFrom(sql`pg_advisory_xact_lock(cast(${v.key} as bigint))`.as('locked')),
  );
  yield* all(lock, { key: MIGRATION_LOCK });
  yield* migrate(db, COLUMNS);
}

/** Runs some work, one round trip a step. */
async function perform<T>(client: PoolClient, work: Work<T>): Promise<T> {
  let step = work.next();
  while (step.done !== true) step = work.next(await query(client, step.value.sql, step.value.values));
  return step.value;
}

async function query(client: PoolClient, sql: string, values: unknown[] = []): Promise<StepResult> {
  try {
    const { rows, rowCount } = await client.query(sql, values);
    return { rows, changed: rowCount ?? 0 };
  } catch (error) {
    throw publicError(error);
  }
}

function inTransaction<T>(pool: Pool, work: Work<T>, durability: Durability = 'durable'): Promise<T> {
  return withClient(pool, async (client) => {
    await query(client, durability === 'durable' ? BEGIN : BEGIN_RELAXED);
    const result = await perform(client, work);
    await query(client, 'COMMIT');
    return result;
  });
}

/** A client whose work fails is rolled back; one that cannot even do that is dropped from the pool. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw publicError(error);
  });
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The five characters of PostgreSQL's appendix A, or undefined when the server did not speak. */
function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** A connection fault (08), an idle transaction that was ended (25P03), out of resources (53), shutting down (57). */
function publicError(error: unknown): unknown {
  const state = sqlState(error);
  if (state !== undefined && !/^(?:08|25P03|53|57)/.test(state)) return error;
  return new TallyError('unavailable', 'The database cannot be reached just now.', { cause: error });
}
