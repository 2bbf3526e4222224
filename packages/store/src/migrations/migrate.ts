import { TallyError, VERSION } from '@tallystick/core';
import { type RawBuilder, sql } from 'kysely';
import { all, run, type Work } from '../database-work.ts';
import { type Compiler, raw, type Statement, statement } from '../statement.ts';
import { initial } from './0001-initial.ts';
import { anchorLog } from './0002-anchor-log.ts';
import { ledger } from './0003-ledger.ts';
import { compression } from './0004-compression.ts';
import { payments } from './0005-payments.ts';
import { tenants } from './0006-tenants.ts';
import { processLeases } from './0007-process-leases.ts';
import { logWitnesses } from './0008-log-witnesses.ts';
import { compressionOfEverybody } from './0009-compression-of-everybody.ts';
import { releases } from './0010-releases.ts';
import { receiptsRoom } from './0011-receipts-room.ts';
import { sessions } from './0012-sessions.ts';
import { learning } from './0013-learning.ts';
import { routing } from './0014-routing.ts';
import { lists } from './0015-lists.ts';
import { calls } from './0016-calls.ts';
import { budgets } from './0017-budgets.ts';
import { webhooks } from './0018-webhooks.ts';
import { webhookSecrets } from './0019-webhook-secrets.ts';
import { keptContent } from './0020-kept-content.ts';
import { operatorKeys } from './0021-operator-keys.ts';
import { keysThatKeep } from './0022-keys-that-keep.ts';
import { streams } from './0023-streams.ts';
import { slices } from './0024-slices.ts';
import { receiptCounts } from './0027-receipt-counts.ts';
import { receiptProviders } from './0028-receipt-providers.ts';
import { receiptStatuses } from './0029-receipt-statuses.ts';
import { receiptCosts } from './0030-receipt-costs.ts';
import { postingStates } from './0031-posting-states.ts';
import { sessionList } from './0032-session-list.ts';
import { paymentLeases } from './0033-payment-leases.ts';
import { paymentAges } from './0034-payment-ages.ts';
import { orderedLists } from './0035-ordered-lists.ts';
import { payoutsOfAccounts } from './0036-payouts-of-accounts.ts';
import { payoutsOfKinds } from './0037-payouts-of-kinds.ts';
import { payoutNonces } from './0038-payout-nonces.ts';
import { ordersWaiting } from './0039-orders-waiting.ts';
import { exportEtags } from './0040-export-etags.ts';
import { treasuryMarks } from './0041-treasury-marks.ts';
import type { AddedIndex, ColumnTypes, Migration } from './migration.ts';

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
  releases,
  receiptsRoom,
  sessions,
  learning,
  routing,
  lists,
  calls,
  budgets,
  webhooks,
  webhookSecrets,
  keptContent,
  operatorKeys,
  keysThatKeep,
  streams,
  slices,
  receiptCounts,
  receiptProviders,
  receiptStatuses,
  receiptCosts,
  postingStates,
  sessionList,
  paymentLeases,
  paymentAges,
  orderedLists,
  payoutsOfAccounts,
  payoutsOfKinds,
  payoutNonces,
  ordersWaiting,
  exportEtags,
  treasuryMarks,
];

/** The first version whose row names the release that applied it. */
const WITH_RELEASE = migrations.indexOf(releases) + 1;

/** An index that is still to be made. */
export interface PendingIndex extends AddedIndex {
  /** The schema version of the database once it has the index. */
  readonly version: number;
}

/**
 * Changes the schema up to the next index and returns that index, or null once the database is at the newest version. The
 * caller makes the index, records it with {@link recordVersion}, and calls again. Runs inside a transaction that keeps all
 * other migrators out.
 *
 * @throws {TallyError} `unavailable` when a newer release has taken away what this one uses.
 */
export function* migrate(db: Compiler, types: ColumnTypes): Work<PendingIndex | null> {
  const table = db.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('version', 'bigint', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'bigint', (column) => column.notNull());
  const newest = db
    .selectFrom('schema_migrations')
    .select(sql<number>`coalesce(max(version), 0)`.as('version'));
  yield* run(
    statement(() => table),
    {},
  );
  const [row] = yield* all(
    statement(() => newest),
    {},
  );
  const current = row?.version ?? 0;
  if (current > migrations.length) yield* assertUsable(db, current);
  for (const [index, migration] of migrations.entries()) {
    const version = index + 1;
    if (version <= current) continue;
    if ('index' in migration) return { version, ...migration };
    for (const step of migration.statements(db, types)) {
      yield* run(
        statement(() => step),
        {},
      );
    }
    yield* recordVersion(db, version, migration);
  }
  return null;
}

/** Records that this release has brought the database to a version. */
export function* recordVersion(db: Compiler, version: number, migration: Migration): Work<void> {
  const needs = 'needs' in migration ? (migration.needs ?? null) : null;
  const row = { version, name: migration.name, applied_at: Math.floor(Date.now() / 1000) };
  const insert = statement((v: typeof row) =>
    db.insertInto('schema_migrations').values({ version: v.version, name: v.name, applied_at: v.applied_at }),
  );
  const nameRelease = statement((v: { version: number; release: string; needs: number | null }) =>
    db
      .updateTable('schema_migrations')
      .set({ release: v.release, needs: v.needs })
      .where('version', '=', v.version),
  );
  yield* run(insert, row);
  if (version >= WITH_RELEASE) yield* run(nameRelease, { version, release: VERSION, needs });
}

/** The statement that makes an index if there is none of its name. */
export function makeIndex(
  db: Compiler,
  { index }: AddedIndex,
  how: RawBuilder<unknown> = sql``,
): Statement<object, unknown> {
  return statement(() =>
    raw(db, sql`create index ${how} if not exists ${sql.ref(index.name)} on ${index.on}`),
  );
}

/** @throws {TallyError} `unavailable` when a migration that is newer than this release needs a newer one */
function* assertUsable(db: Compiler, current: number): Work<void> {
  const known = migrations.length;
  const newer = statement((v: { known: number }) =>
    db
      .selectFrom('schema_migrations')
      .select(['release', 'needs'])
      .where('version', '>', v.known)
      .orderBy('version'),
  );
  const rows = yield* all(newer, { known });
  const needs = Math.max(0, ...rows.map((row) => row.needs ?? 0));
  if (needs <= known) return;
  const release = rows.at(-1)?.release ?? 'unknown';
  throw new TallyError(
    'unavailable',
    `Release ${release} has brought the database to schema version ${current}, on which no release works that knows less than version ${needs}. This is release ${VERSION}, which knows version ${known}. Run release ${release} or a newer one, or restore a backup.`,
  );
}
