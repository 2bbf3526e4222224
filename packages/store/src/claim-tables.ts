import type { Claim } from '@tallystick/ledger';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { pick, table } from './table.ts';

/** A claim as another request finds it. */
export interface FoundClaim {
  readonly requestHash: string;
  /** Whether the lease of its process still runs. */
  readonly live: boolean;
}

/** The statements about many claims. All run inside a transaction. */
export interface ClaimTables {
  /** Inserts the claims whose scope has none; each scope comes once. Returns the scopes of the inserted ones. */
  insertClaims(claims: readonly Claim[]): Work<Set<string>>;
  deleteClaims(claims: readonly Pick<Claim, 'scope' | 'token'>[]): Work<unknown>;
  findClaims(scopes: readonly string[]): Work<Map<string, FoundClaim>>;
}

const CLAIMS = table<Claim>('claims', ['scope'], {
  scope: 'text',
  requestHash: 'text',
  process: 'text',
  token: 'text',
});

const TOKENS = pick(CLAIMS, ['scope', 'token']);

export function claimTables(bulk: Bulk, { now }: Dialect): ClaimTables {
  const find = bulk.lookUp(
    CLAIMS,
    'scope',
    (isOneOf) => sql<{ scope: string; requestHash: string; live: number }>`
      select scope, request_hash as "requestHash",
        case when exists (select 1 from processes where id = process and lease_until > ${now})
          then 1 else 0 end as live
      from claims where scope ${isOneOf}`,
  );
  return {
    insertClaims: bulk.insertNew(CLAIMS),
    deleteClaims: bulk.removeEqual(TOKENS),
    *findClaims(scopes) {
      const rows = yield* find(scopes);
      return new Map(rows.map(({ scope, requestHash, live }) => [scope, { requestHash, live: live === 1 }]));
    },
  };
}
