import type { Claim } from '@tallystick/ledger';
import { type Kysely, sql } from 'kysely';
import type { ClaimTables, FoundClaim } from './claim-tables.ts';
import type { Dialect } from './dialect.ts';
import type { Lookup, Queries } from './queries.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';
import { all, run } from './work.ts';

/** In process a statement costs little, so each row has its own. */
export function sqliteClaimTables(
  db: Kysely<Schema>,
  { findRecord }: Pick<Queries, 'findRecord'>,
  { now }: Dialect,
): ClaimTables {
  const insert = statement((v: Claim) =>
    db
      .insertInto('claims')
      .values({ scope: v.scope, request_hash: v.requestHash, process: v.process, token: v.token })
      .onConflict((conflict) => conflict.column('scope').doNothing()),
  );
  const remove = statement((v: Pick<Claim, 'scope' | 'token'>) =>
    db.deleteFrom('claims').where('scope', '=', v.scope).where('token', '=', v.token),
  );
  const find = statement((v: { scope: string }) =>
    raw(
      db,
      sql<{ requestHash: string; live: number }>`
        select request_hash as "requestHash",
          exists (select 1 from processes where id = process and lease_until > ${now}) as live
        from claims where scope = ${v.scope}`,
    ),
  );
  return {
    *insertClaims(claims) {
      const inserted = new Set<string>();
      for (const one of claims) if ((yield* run(insert, one)) === 1) inserted.add(one.scope);
      return inserted;
    },
    *deleteClaims(claims) {
      for (const one of claims) yield* run(remove, one);
    },
    *findClaims(scopes) {
      const found = new Map<string, FoundClaim>();
      for (const scope of scopes) {
        const [row] = yield* all(find, { scope });
        if (row !== undefined) found.set(scope, { requestHash: row.requestHash, live: row.live === 1 });
      }
      return found;
    },
    *findRecords(scopes) {
      const found = new Map<string, Lookup>();
      for (const scope of scopes) {
        const [row] = yield* all(findRecord, { scope });
        if (row !== undefined) found.set(scope, row);
      }
      return found;
    },
  };
}
