import { setTimeout as sleep } from 'node:timers/promises';
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
import { run } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { backupPostgres } from './postgres-backup.ts';
import { publicError, sqlState, startError } from './postgres-errors.ts';
import { postgresLeafIndexes } from './postgres-leaf-indexes.ts';
import { POSTGRES_LIMITS, type PostgresLimits } from './postgres-limits.ts';
import { migratePostgres } from './postgres-migrations.ts';
import { PostgresPool } from './postgres-pool.ts';
import { postgresRows } from './postgres-rows.ts';
import { readPostgresUrl } from './postgres-url.ts';
import { begin, inTransaction, perform, tryTransaction, UNHURRIED_MS } from './postgres-work.ts';
import type { Schema } from './schema.ts';
import { type SqlDatabase, sharedStatements } from './sql-database.ts';
import { SqlStore } from './sql-store.ts';
import { raw, statement } from './statement.ts';
import type { Store, StoreObserver } from './store.ts';

/** Milliseconds between two tries to reach a server. */
const RETRY_MS = 500;

const DIALECT: Dialect = {
  forUpdate: sql`for update`,
  skipLocked: sql`for update skip locked`,
  now: sql<number>`extract(epoch from clock_timestamp())::float8`,
  indexedBy: () => sql``,
  json: (text) => sql`cast(${text} as json)`,
  soleWriter: false,
  rows: postgresRows,
};

const BYTEA = 17;
const INT8 = 20;
const JSON_TEXT = 114;

/**
 * Opens the store in a PostgreSQL database (15 or newer), at one of the servers of the URL, and brings it to the newest
 * version. Any number of processes may open it. Durable as far as the server's `synchronous_commit` is on, which is its default.
 *
 * @throws {TallyError} `unavailable` when the server cannot be reached or refuses the login, or a newer release has taken
 * away what this one uses.
 */
export async function openPostgresStore(
  url: string,
  limits: PostgresLimits = POSTGRES_LIMITS,
  observer?: StoreObserver,
): Promise<Store> {
  const pool = openPool(url, limits);
  try {
    return new SqlStore(await openDatabase(pool, url, limits), observer);
  } catch (error) {
    await pool.close();
    throw startError(error);
  }
}

/** How long a start waits for a server that cannot be reached. */
interface Waiting {
  readonly ms: number;
  /** Told after each try that failed, with the reason and with the milliseconds that are left. */
  readonly onWait: (reason: string, leftMs: number) => void;
}

/**
 * Resolves once the server takes a connection that can be used.
 * @throws unavailable when none did in time; at once what waiting does not mend, such as a wrong password
 */
export async function waitForPostgres(
  url: string,
  limits: PostgresLimits,
  { ms, onWait }: Waiting,
): Promise<void> {
  const pool = openPool(url, limits);
  const until = performance.now() + ms;
  try {
    for (;;) {
      const reason = await reach(pool);
      const leftMs = until - performance.now();
      if (reason === null) return;
      if (leftMs <= 0) {
        const message = `The database could not be reached within ${ms / 1_000} s (${reason}). Check TALLY_DATABASE_URL and whether it runs.`;
        throw new TallyError('unavailable', message);
      }
      onWait(reason, leftMs);
      await sleep(Math.min(RETRY_MS, leftMs));
    }
  } finally {
    await pool.close();
  }
}

/** Null once a statement was answered, else why not. */
async function reach(pool: PostgresPool): Promise<string | null> {
  try {
    await pool.use((run) => run('SELECT 1', []));
    return null;
  } catch (thrown) {
    const error = thrown instanceof TallyError ? thrown : publicError(thrown);
    if (!(error instanceof TallyError)) throw startError(error);
    const { code, message } = error.cause as NodeJS.ErrnoException;
    return code ?? message;
  }
}

function openPool(url: string, limits: PostgresLimits): PostgresPool {
  const servers = readPostgresUrl(url);
  if (servers === null) throw new TypeError('The URL of the database is malformed.');
  return new PostgresPool({ servers, limits, types: typeParsers() });
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

async function openDatabase(pool: PostgresPool, url: string, limits: PostgresLimits): Promise<SqlDatabase> {
  const compiler = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  await migratePostgres(pool, compiler, limits);
  const read: SqlDatabase['read'] = (work, pace = 'served') =>
    pace === 'served'
      ? pool.use((run) => perform(run, work))
      : tryTransaction(pool, begin({ ...limits, statementMs: 0, lockMs: 0 }, 'durable'), work, UNHURRIED_MS);
  const lock = statement(() => raw(compiler, sql`lock table documents in share row exclusive mode`));
  return {
    ...sharedStatements(compiler, DIALECT),
    read,
    transaction: (work, durability = 'durable') => inTransaction(pool, begin(limits, durability), work),
    indexesOfLeaves: postgresLeafIndexes(compiler),
    *lockDocuments() {
      yield* run(lock, {});
    },
    isRowFault: (error) => /^2[23]/.test(sqlState(error) ?? ''),
    outsideVersion: () => null,
    giveBack: async () => 0,
    backup: (path) => backupPostgres({ url, db: compiler, read }, path),
    close: () => pool.close(),
  };
}
