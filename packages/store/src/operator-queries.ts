import type { OperatorKeyRow } from '@tallystick/callers';
import { sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, statement } from './statement.ts';
import { openPayouts } from './treasury-queries.ts';

/** The statements about keys of operators, and those that look over the whole service. */
export function operatorQueries(db: Compiler, dialect: Dialect) {
  const { now } = dialect;
  const keys = db
    .selectFrom('operator_keys')
    .select(['id', 'hash', 'label', 'created_at as createdAt', 'revoked_at as revokedAt']);
  return {
    insertOperatorKey: statement((v: OperatorKeyRow) =>
      db.insertInto('operator_keys').values({
        id: v.id,
        hash: v.hash,
        label: v.label,
        created_at: v.createdAt,
        revoked_at: v.revokedAt,
      }),
    ),
    operatorKeyByHash: statement((v: { hash: string }) => keys.where('hash', '=', v.hash)),
    operatorKeyById: statement((v: { id: string }) => keys.where('id', '=', v.id)),
    allOperatorKeys: statement(() => keys.orderBy('created_at').orderBy('id')),
    revokeOperatorKey: statement((v: { id: string; at: number }) =>
      db
        .updateTable('operator_keys')
        .set({ revoked_at: v.at })
        .where('id', '=', v.id)
        .where('revoked_at', 'is', null),
    ),
    schemaVersion: statement(() =>
      raw<{ version: number }>(db, sql`select max(version) as version from schema_migrations`),
    ),
    logLease: statement(() =>
      db
        .selectFrom('log_state')
        .select(['lease_holder as holder', sql<number>`lease_expires_at - ${now}`.as('seconds')]),
    ),
    liveProcesses: statement(() =>
      raw<{ processes: number }>(
        db,
        sql`select count(*) as processes from processes where lease_until > ${now}`,
      ),
    ),
    newestCheckpoints: statement((v: { limit: number }) =>
      db.selectFrom('checkpoints').select(['size', 'note']).orderBy('size', 'desc').limit(v.limit),
    ),
    openPostings: statement(() =>
      db
        .selectFrom('postings')
        .select((row) => ['state', row.fn.countAll<number>().as('postings')])
        .where(
          'state',
          'in',
          ['queued', 'broadcast', 'confirmed'].map((state) => sql.lit(state)),
        )
        .groupBy('state'),
    ),
    oldestOpenPayouts: statement((v: { kind: string; limit: number }) =>
      openPayouts(db, dialect)
        .select([
          'id',
          'state',
          'network',
          'address',
          sql<string>`cast(amount as text)`.as('amount'),
          'reason',
          'created_at as createdAt',
          'note',
        ])
        .where('kind', '=', v.kind)
        .orderBy('created_at')
        .orderBy('id')
        .limit(v.limit),
    ),
    countOpenPayouts: statement(() =>
      openPayouts(db, dialect)
        .select((row) => ['kind', row.fn.countAll<number>().as('payouts')])
        .groupBy('kind'),
    ),
  };
}
