import { TallyError } from '@tallystick/core';
import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';
import { all, run, type Work } from '../work.ts';
import { initial } from './0001-initial.ts';
import { anchorLog } from './0002-anchor-log.ts';
import { ledger } from './0003-ledger.ts';
import { compression } from './0004-compression.ts';
import { payments } from './0005-payments.ts';
import { tenants } from './0006-tenants.ts';
import { processLeases } from './0007-process-leases.ts';
import { logWitnesses } from './0008-log-witnesses.ts';
import { compressionOfEverybody } from './0009-compression-of-everybody.ts';

/** Column types that dialects write differently. */
export interface ColumnTypes {
  /** Text that is compared and ordered by its bytes. */
  readonly key: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** An integer primary key whose rows are kept in its order. */
  readonly ordinal: RawBuilder<unknown>;
  /** Ends a table whose rows are kept in the order of its primary key, where a database can. */
  readonly clustered: RawBuilder<unknown>;
}

/** A step forward. There is none back: restore a backup instead. */
export interface Migration {
  readonly name: string;
  statements(db: Kysely<Schema>, types: ColumnTypes): Compilable[];
}

/** In order: the first brings a database to version 1. Only ever append. */
const migrations: readonly Migration[] = [
  initial,
  anchorLog,
  ledger,
  compression,
  payments,
  tenants,
  processLeases,
  logWitnesses,
  compressionOfEverybody,
];

/**
 * Brings the database to the newest version. Runs inside a transaction that keeps all other migrators out.
 *
 * @throws {TallyError} `unavailable` when the database is at a version that this code does not know.
 */
export function* migrate(db: Kysely<Schema>, types: ColumnTypes): Work<void> {
  const table = db.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('version', 'bigint', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'bigint', (column) => column.notNull());
  const newest = db
    .selectFrom('schema_migrations')
    .select(sql<number>`coalesce(max(version), 0)`.as('version'));
  const record = statement((v: Schema['schema_migrations']) =>
    db.insertInto('schema_migrations').values({ version: v.version, name: v.name, applied_at: v.applied_at }),
  );
  yield* run(
    statement(() => table),
    {},
  );
  const [row] = yield* all(
    statement(() => newest),
    {},
  );
  const current = row?.version ?? 0;
  if (current > migrations.length) throw tooNew(current);
  for (const [index, migration] of migrations.entries()) {
    if (index < current) continue;
    for (const step of migration.statements(db, types)) {
      yield* run(
        statement(() => step),
        {},
      );
    }
    const applied_at = Math.floor(Date.now() / 1000);
    yield* run(record, { version: index + 1, name: migration.name, applied_at });
  }
}

function tooNew(current: number): TallyError {
  return new TallyError(
    'unavailable',
    `The database is at schema version ${current}, and this release knows only ${migrations.length}. Run a newer release, or restore a backup.`,
  );
}
