import { TallyError } from '@tallystick/core';
import { sql } from 'kysely';
import { all, run, type Work } from '../database-work.ts';
import type { Schema } from '../schema.ts';
import { type Compiler, statement } from '../statement.ts';
import { initial } from './0001-initial.ts';
import { anchorLog } from './0002-anchor-log.ts';
import { ledger } from './0003-ledger.ts';
import { compression } from './0004-compression.ts';
import { payments } from './0005-payments.ts';
import { tenants } from './0006-tenants.ts';
import { processLeases } from './0007-process-leases.ts';
import { logWitnesses } from './0008-log-witnesses.ts';
import { compressionOfEverybody } from './0009-compression-of-everybody.ts';
import type { ColumnTypes, Migration } from './migration.ts';

/** In order: the first brings a database to version 1. New ones are only ever appended. */
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
export function* migrate(db: Compiler, types: ColumnTypes): Work<void> {
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
