import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/** The sessions that calls and signed receipts name, as their owners list them: of everything, and of each key. */
export const sessionList: ChangedSchema = {
  name: 'session_list',
  statements: (db, { key, clustered }) => [
    db.schema
      .createTable('session_list')
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('key', key, (column) => column.notNull())
      .addColumn('id', key, (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addColumn('errors', 'bigint', (column) => column.notNull())
      .addColumn('receipts', 'bigint', (column) => column.notNull())
      .addColumn('tool_calls', 'bigint', (column) => column.notNull())
      .addColumn('cost', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('session_list_pk', ['owner', 'key', 'id'])
      .modifyEnd(clustered),
    ...['', 'key'].map((only) => filled(db, only)),
    raw(db, sql`create index session_list_time on session_list (owner, key, at, id)`),
    raw(db, sql`create index session_list_expiry on session_list (expires_at)`),
  ],
};

/** Lists the sessions of the calls and receipts that are listed already. @param only `key` for the rows of each key */
function filled(db: Parameters<ChangedSchema['statements']>[0], only: string) {
  const key = only === '' ? sql`''` : sql.ref(only);
  const hasKey = only === '' ? sql`1 = 1` : sql`${key} is not null`;
  return raw(
    db,
    sql`
      insert into session_list (
        owner, key, id, at, last_at, calls, errors, receipts, tool_calls, cost, expires_at)
      select owner, key, session, min(at), max(at), sum(call), sum(error), sum(receipt), sum(tool), sum(cost), max(expires_at)
      from (
        select owner, ${key} as key, session, at, 1 as call, case when error_code is null then 0 else 1 end as error,
          0 as receipt, 0 as tool, cost, 253402300799 as expires_at
        from calls where session is not null and ${hasKey}
        union all
        select owner, ${key} as key, session, at, 0, 0, 1, case when purpose = 'tool_call' then 1 else 0 end,
          coalesce(cost, 0), expires_at
        from receipt_list
        where session is not null and length(session) = 32
          and ltrim(session, '0123456789abcdef') = '' and ${hasKey}) as steps
      group by owner, key, session`,
  );
}
