import { type Kysely, sql } from 'kysely';
import type { ClaimTables, FoundClaim } from './claim-tables.ts';
import type { Dialect } from './dialect.ts';
import type { Lookup } from './queries.ts';
import type { Schema } from './schema.ts';
import { raw, statement } from './statement.ts';
import { all, run } from './work.ts';

/** A statement for all rows at once, since each costs a round trip, and none for no row. */
export function postgresClaimTables(db: Kysely<Schema>, dialect: Dialect): ClaimTables {
  const statements = claimStatements(db, dialect);
  return {
    *insertClaims(claims) {
      if (claims.length === 0) return new Set();
      const inserted = yield* all(statements.insert, {
        scopes: claims.map(({ scope }) => scope),
        hashes: claims.map(({ requestHash }) => requestHash),
        processes: claims.map(({ process }) => process),
        tokens: claims.map(({ token }) => token),
      });
      return new Set(inserted.map(({ scope }) => scope));
    },
    *deleteClaims(claims) {
      if (claims.length === 0) return;
      const scopes = claims.map(({ scope }) => scope);
      yield* run(statements.remove, { scopes, tokens: claims.map(({ token }) => token) });
    },
    *findClaims(scopes) {
      const rows: readonly (FoundClaim & { scope: string })[] =
        scopes.length === 0 ? [] : yield* all(statements.find, { scopes });
      return new Map(rows.map(({ scope, ...claim }) => [scope, claim]));
    },
    *findRecords(scopes) {
      const rows: readonly (Lookup & { scope: string })[] =
        scopes.length === 0 ? [] : yield* all(statements.findRecords, { scopes });
      return new Map(rows.map(({ scope, ...record }) => [scope, record]));
    },
  };
}

function claimStatements(db: Kysely<Schema>, { now }: Dialect) {
  type Scopes = { scopes: readonly string[] };
  return {
    insert: statement((v: Scopes & Record<'hashes' | 'processes' | 'tokens', readonly string[]>) =>
      raw(
        db,
        sql<{ scope: string }>`
          insert into claims (scope, request_hash, process, token)
          select * from unnest(
            ${v.scopes}::text[], ${v.hashes}::text[], ${v.processes}::text[], ${v.tokens}::text[]
          ) as r (scope, request_hash, process, token)
          order by r.scope collate "C"
          on conflict (scope) do nothing
          returning scope`,
      ),
    ),
    remove: statement((v: Scopes & { tokens: readonly string[] }) =>
      raw(
        db,
        sql`
          delete from claims where scope in (
            select claims.scope from claims
            join unnest(${v.scopes}::text[], ${v.tokens}::text[]) as r (scope, token)
              on r.scope = claims.scope and r.token = claims.token
            order by claims.scope for update of claims)`,
      ),
    ),
    find: statement((v: Scopes) =>
      raw(
        db,
        sql<FoundClaim & { scope: string }>`
          select scope, request_hash as "requestHash",
            exists (select 1 from processes where id = process and lease_until > ${now}) as live
          from claims where scope = any(${v.scopes}::text[])`,
      ),
    ),
    findRecords: statement((v: Scopes) =>
      raw(
        db,
        sql<Lookup & { scope: string }>`
          select scope, request_hash as "requestHash", coalesce(response, body) as response
          from idempotency left join receipts on receipts.id = receipt_id
          where scope = any(${v.scopes}::text[])`,
      ),
    ),
  };
}
