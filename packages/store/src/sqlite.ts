import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { TallyError } from '@tallystick/core';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { run, type Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { makeIndex, migrate, recordVersion } from './migrations/migrate.ts';
import type { ColumnTypes } from './migrations/migration.ts';
import type { Schema } from './schema.ts';
import { type SqlDatabase, sharedStatements } from './sql-database.ts';
import { SqlStore } from './sql-store.ts';
import { SqliteFlush } from './sqlite-flush.ts';
import { sqliteLeafIndexes } from './sqlite-leaf-indexes.ts';
import { sqliteRows } from './sqlite-rows.ts';
import { BUSY, BUSY_MS, resultCode, SqliteSession } from './sqlite-session.ts';
import type { Store, StoreObserver } from './store.ts';

/**
 * Ids are random within their second, so a batch touches many pages of their index: larger pages mean fewer writes for
 * it. But a call that is billed alone touches ten pages, and takes twice as long with 16 kB a page. The size can only
 * be chosen when the database is created.
 */
const PAGE_BYTES = 8_192;
const CHECKPOINT_PAGES = 4_000;
/** Free pages are given back while more than one page in this many is free. */
const FREE_PAGES = 8;

/** Look-ups by hash touch random pages, and SQLite's default of 2 MB holds 250 of them; the system caches the rest. */
const CACHE_KIB = 4_096;
/** At 32 MB, the changed pages of a large batch of hashes are not spilled to disk before the commit. */
const SPILL_PAGES = 4_096;

const IN_MEMORY = ':memory:';

const ALL_PAGES = 2 ** 31 - 1;

const COLUMNS: ColumnTypes = {
  key: sql`text`,
  bytes: sql`blob`,
  ordinal: sql`integer`,
  clustered: sql`without rowid`,
};

const DIALECT: Dialect = {
  forUpdate: sql``,
  skipLocked: sql``,
  now: sql<number>`unixepoch('subsec')`,
  indexedBy: (index) => sql`indexed by ${sql.ref(index)}`,
  json: (text) => sql`${text}`,
  soleWriter: true,
  rows: sqliteRows,
};

/** SQLite's primary result codes (sqlite.org/rescode.html). */
const IO_ERROR = 10;
const FULL = 13;
const TOO_BIG = 18;
const CONSTRAINT = 19;

/**
 * Opens (or creates) the store in a file, whose folder must exist, and brings it to the newest version. Any number of
 * processes of one machine may open it; the file must be on a local disk.
 * @throws {TallyError} `unavailable`, naming the file, if it is no database or can't be opened; or if a newer release has
 * taken away what this one uses
 */
export async function openSqliteStore(file: string, observer?: StoreObserver): Promise<Store> {
  try {
    return await openFile(file, observer);
  } catch (cause) {
    if (cause instanceof TallyError || !(cause instanceof Error)) throw cause;
    throw new TallyError('unavailable', `The database ${file} cannot be used: ${cause.message}.`, { cause });
  }
}

async function openFile(file: string, observer: StoreObserver | undefined): Promise<Store> {
  if (file !== IN_MEMORY) await makePrivate(file);
  const connection = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`);
    await enterWal(connection);
    // On macOS a plain fsync leaves data in the disk's own cache. A checkpoint has to go as far as the log's flush does, by Node's
    // fdatasync: else a log that begins anew could reach the disk before the pages that it held (sqlite.org/pragma.html).
    connection.exec('PRAGMA checkpoint_fullfsync = ON');
    connection.exec(
      `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA cache_spill = ${SPILL_PAGES}`,
    );
    return new SqlStore(await openDatabase(connection, file), observer);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Makes a file that only its owner may read, unless it exists. SQLite gives `-wal` and `-shm` the same mode. */
async function makePrivate(file: string): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  await handle.close();
}

/** SQLite does not wait for its busy timeout when two connections change a new file to WAL at once. */
async function enterWal(connection: DatabaseSync): Promise<void> {
  const deadline = performance.now() + BUSY_MS;
  for (;;) {
    try {
      connection.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (resultCode(error) !== BUSY || performance.now() > deadline) throw error;
      await setTimeout(5);
    }
  }
}

async function openDatabase(connection: DatabaseSync, file: string): Promise<SqlDatabase> {
  const compiler = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  // A connection opens its log when it reads.
  connection.prepare('select count(*) from sqlite_schema').get();
  const flush = new SqliteFlush(connection.location());
  const session = new SqliteSession(connection, flush);
  await session.transaction(() => session.perform(migrateAll(compiler)));
  return {
    ...sharedStatements(compiler, DIALECT),
    read: (work) => session.read(() => session.perform(work)).catch(rethrown),
    transaction: (work, durability) =>
      session.transaction(() => session.perform(work()), durability).catch(rethrown),
    indexesOfLeaves: sqliteLeafIndexes(compiler),
    // Nothing to do: the transaction holds the only write lock there is.
    *lockDocuments() {},
    isRowFault,
    outsideVersion: () => translated(() => session.outsideVersion()),
    giveBack: (pages) =>
      session.transaction(() => session.giveBack(pages, FREE_PAGES), 'relaxed').catch(rethrown),
    backup: (path) => writeBackup(file, path),
    close: async () => {
      try {
        // Something may be written, and its flush begin, during the one before.
        while (flush.ended !== null) await flush.ended;
      } finally {
        translated(() => connection.close());
        flush.close();
      }
    },
  };
}

function* migrateAll(db: Kysely<Schema>): Work<void> {
  for (;;) {
    const pending = yield* migrate(db, COLUMNS);
    if (pending === null) return;
    yield* run(makeIndex(db, pending), {});
    yield* recordVersion(db, pending.version, pending);
  }
}

/** @throws the errors of `Store` in place of SQLite's */
function translated<T>(task: () => T): T {
  try {
    return task();
  } catch (error) {
    throw publicError(error);
  }
}

/**
 * Copies one snapshot in one step, on a connection and thread of its own: writers go on meanwhile, and no write
 * restarts the copy.
 */
async function writeBackup(file: string, path: string): Promise<void> {
  const partial = `${path}.partial`;
  await rm(partial, { force: true });
  await makePrivate(partial);
  const source = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS });
  try {
    await backup(source, partial, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
  await sync(partial);
  await rename(partial, path);
  await sync(dirname(path));
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isRowFault(error: unknown): boolean {
  const code = resultCode(error);
  return code === CONSTRAINT || code === TOO_BIG || isUnbindable(error);
}

/** Whether a value has a type that SQLite lacks, or is an integer beyond 64 bits. */
function isUnbindable(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ERR_INVALID_ARG_TYPE' || error.code === 'ERR_INVALID_ARG_VALUE';
}

function rethrown(error: unknown): never {
  throw publicError(error);
}

function publicError(error: unknown): unknown {
  const code = resultCode(error);
  if (code === BUSY || code === IO_ERROR || code === FULL) {
    return new TallyError('unavailable', 'The database cannot be written at the moment.', { cause: error });
  }
  if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE') {
    return new TallyError('unavailable', 'The store is closed.', { cause: error });
  }
  return error;
}
