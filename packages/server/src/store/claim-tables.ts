import type { Claim } from '@tallystick/ledger';
import type { Lookup } from './queries.ts';
import type { Work } from './work.ts';

/** A claim as another request finds it. */
export interface FoundClaim {
  readonly requestHash: string;
  /** Whether the lease of its process still runs. */
  readonly live: boolean;
}

/**
 * The statements about many claims, which each database has in its own way. All run inside a transaction. Rows are
 * locked in the order of their scopes, so that no two transactions wait for each other.
 */
export interface ClaimTables {
  /** Inserts those whose scope has no claim; each scope comes once. Answers the scopes of those inserted. */
  insertClaims(claims: readonly Claim[]): Work<Set<string>>;
  deleteClaims(claims: readonly Pick<Claim, 'scope' | 'token'>[]): Work<void>;
  /** By scope. */
  findClaims(scopes: readonly string[]): Work<Map<string, FoundClaim>>;
  /** The idempotency records of these scopes, by scope. */
  findRecords(scopes: readonly string[]): Work<Map<string, Lookup>>;
}
