import { sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Compiler, raw, statement } from './statement.ts';

/** The statements about leases that all databases share. */
export function leaseQueries(db: Compiler, { now, forUpdate }: Dialect) {
  return {
    renewLease: statement((v: { id: string; seconds: number }) =>
      raw(
        db,
        sql`
          insert into processes (id, lease_until) values (${v.id}, ${now} + cast(${v.seconds} as double precision))
          on conflict (id) do update set lease_until = excluded.lease_until`,
      ),
    ),
    endLease: statement((v: { id: string }) => db.deleteFrom('processes').where('id', '=', v.id)),
    forgetProcesses: statement(() =>
      raw(
        db,
        sql`
          delete from processes where id in (
            select id from processes where lease_until <= ${now} order by id ${forUpdate})`,
      ),
    ),
    forgetClaims: statement(() =>
      raw(
        db,
        sql`
          delete from claims where scope in (
            select scope from claims
            where not exists (select 1 from processes where id = process and lease_until > ${now})
            order by scope ${forUpdate})`,
      ),
    ),
  };
}
