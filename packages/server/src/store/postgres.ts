import { TallyError } from '@tallystick/core';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { DatabaseError, Pool, type PoolClient, type QueryResult, TypeOverrides } from 'pg';
import { migrate } from './migrations/migrate.ts';
import { postgresWrites } from './postgres-writes.ts';
import { sharedQueries } from './queries.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';
import { SqlStore } from './sql-store.ts';
import { bind, raw, type Session, statement } from './statement.ts';
import type { Store } from './store.ts';

const CONNECT_MS = 5_000;

/** Any constant will do, as long as every release takes the same. */
const MIGRATION_LOCK = 7_462_559;

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
  try {
    return new SqlStore(await openDatabase(pool));
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Integers as numbers, all within 2^53; JSON as the text it is. */
function typeParsers(): TypeOverrides {
  const parsers = new TypeOverrides();
  parsers.setTypeParser(INT8, Number);
  parsers.setTypeParser(JSON_TEXT, (text) => text);
  return parsers;
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
  const lockMigrations = statement((v: { key: number }) =>
    compiler.selectNoFrom(sql`pg_advisory_xact_lock(cast(${v.key} as bigint))`.as('locked')),
  );
  const lockDocuments = statement(() => raw(compiler, sql`lock table documents in share row exclusive mode`));
  await inTransaction(pool, async (session) => {
    await session.all(lockMigrations, { key: MIGRATION_LOCK });
    await migrate(session, compiler, { key: sql`text collate "C"` });
  });
  const queries = sharedQueries(compiler, sql`for update skip locked`);
  return {
    queries,
    transaction: (work) => inTransaction(pool, work),
    read: (work) => withClient(pool, (client) => work(sessionOf(client))),
    ...postgresWrites(compiler),
    lockDocuments: async (session) => {
      await session.run(lockDocuments, {});
    },
    isRowFault: (error) => /^2[23]/.test(sqlState(error) ?? ''),
    backup: () =>
      Promise.reject(new TallyError('unavailable', 'A PostgreSQL database is backed up with pg_dump.')),
    close: () => pool.end(),
  };
}

function sessionOf(client: PoolClient): Session {
  return {
    run: async (statement, values) =>
      (await query(client, statement.sql, bind(statement, values))).rowCount ?? 0,
    all: async (statement, values) => (await query(client, statement.sql, bind(statement, values))).rows,
  };
}

async function query(client: PoolClient, text: string, values?: unknown[]): Promise<QueryResult> {
  try {
    return await client.query(text, values);
  } catch (error) {
    throw publicError(error);
  }
}

function inTransaction<T>(pool: Pool, work: (session: Session) => T | Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await query(client, 'BEGIN');
    const result = await work(sessionOf(client));
    await query(client, 'COMMIT');
    return result;
  });
}

/** A client whose work fails is rolled back; one that cannot even do that is dropped from the pool. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => T | Promise<T>): Promise<T> {
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

/** Unreachable, out of resources (53), shutting down (57), or a connection fault (08): not a fault of ours. */
function publicError(error: unknown): unknown {
  const state = sqlState(error);
  if (state !== undefined && !/^(?:08|53|57)/.test(state)) return error;
  return new TallyError('unavailable', 'The database cannot be reached just now.', { cause: error });
}
