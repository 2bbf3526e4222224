import type { KeptAs } from '@tallystick/core';
import type { ApiKeyStore } from './api-key-store.ts';
import type { ClaimStore } from './claim-store.ts';
import type { CompressionStore } from './compression-store.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { LogStore } from './log-store.ts';
import type { PaymentStore } from './payment-store.ts';
import type { TenantStore } from './tenant-store.ts';
import type { TreasuryStore } from './treasury-store.ts';

/** One receipt as it is kept. Times are unix seconds. */
export interface ReceiptRow {
  /** Unique over all receipts, purged ones too. */
  readonly id: string;
  readonly profile: KeptAs;
  /** The tenant whose key reads it, or null for a public receipt. */
  readonly tenant: string | null;
  /** The JCS text, exactly as answered. */
  readonly body: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** What ties a write to an `Idempotency-Key`. */
export interface IdempotencyRecord {
  /** Hex hash of caller, route and key. */
  readonly scope: string;
  /** Hex hash of the request that the key was first used with. */
  readonly requestHash: string;
  /** Unix seconds. A record never outlives the receipt that it replays. */
  readonly expiresAt: number;
  /** What a repetition is answered with; the receipt's body where it is not given. */
  readonly response?: string | undefined;
}

/** The key was used before: with the same request (here is its answer), or with another one. */
export type Repeated = { kind: 'replayed'; response: string } | { kind: 'reused' };

export type PutOutcome = { kind: 'stored' } | Repeated | { kind: 'id_taken' };

/** `used` counts this consumption when it was allowed. */
export interface ConsumeOutcome {
  allowed: boolean;
  used: number;
}

export type GetOutcome =
  | { kind: 'found'; body: string; tenant: string | null; expiresAt: number }
  | { kind: 'purged'; tenant: string | null }
  | { kind: 'unknown' };

export interface IssuerRow {
  did: string;
  /** JSON text, kept byte for byte. */
  record: string;
  sequence: number;
}

/**
 * What the service keeps. Every adapter passes the one suite in `store-suite.ts`.
 *
 * Durability: a write resolves only after its transaction is on disk, so what was answered survives a crash
 * of the process and of the machine. A write that rejects may or may not have happened (the connection can
 * break at the commit); repeat it with the same id or idempotency scope to find out.
 *
 * Ordering: writes of one process commit in the order of their calls, and a read sees every write that
 * resolved before it was called, in this process or in another.
 *
 * Concurrency: any number of calls at once, from any number of processes on one database. `putReceipt` and
 * `consume` share transactions (group commit): many calls, one flush to disk. A call whose own data are
 * refused rejects alone; when the transaction itself fails, all that share it reject.
 *
 * Errors: `unavailable` when the database cannot be reached or written, when too many writes wait already,
 * and for any call after `close`.
 */
export interface Store {
  readonly log: LogStore;
  readonly apiKeys: ApiKeyStore;
  readonly ledger: LedgerStore;
  readonly compression: CompressionStore;
  readonly treasury: TreasuryStore;
  readonly payments: PaymentStore;
  readonly tenants: TenantStore;
  readonly claims: ClaimStore;

  /**
   * Stores a receipt, and with it the idempotency record in the same transaction. Unless it answers
   * `stored`, nothing was written. A scope holds until `purge` has deleted its record.
   */
  putReceipt(row: ReceiptRow, idempotency?: IdempotencyRecord): Promise<PutOutcome>;

  /** A receipt is `found` until it is purged, also past its `expiresAt` (unix seconds): `keptReceipt` heeds that. */
  getReceipt(id: string): Promise<GetOutcome>;

  /** What an earlier request under this scope was answered, or null where no record is live at `now`. */
  findIdempotent(scope: string, requestHash: string, now: number): Promise<Repeated | null>;

  /**
   * Deletes what has expired at `now` (unix seconds), at most `limit` rows of each kind; call again until
   * all counts are below `limit`. A receipt loses its body and leaves its id and tenant, so that it reads
   * as `purged` to whom it was readable. Safe to run in several processes at once.
   */
  purge(now: number, limit?: number): Promise<{ receipts: number; idempotency: number; counters: number }>;

  /**
   * Counts `counter` up by one unless that would pass `limit`: atomic over all processes. The `expiresAt`
   * of the first use stays; a counter starts again from nothing once purged.
   */
  consume(counter: string, limit: number, expiresAt: number): Promise<ConsumeOutcome>;

  getIssuer(did: string): Promise<{ record: string; sequence: number } | null>;

  /**
   * Compare-and-swap: sequence 1 inserts, sequence n replaces n-1, all else is a `conflict`. With
   * `idempotency`, the record is written in the same transaction and replays `response`; a conflict
   * writes none.
   */
  putIssuer(
    did: string,
    record: string,
    sequence: number,
    idempotency?: IdempotencyRecord & { readonly response: string },
  ): Promise<'stored' | 'conflict' | Repeated>;

  /**
   * The issuers in the byte order of their DIDs, read a page at a time; optionally only those whose record
   * has this `status` member. A record that changes meanwhile is seen once, old or new.
   */
  listIssuers(filter?: { readonly status?: string }): AsyncIterable<IssuerRow>;

  /** The newest version of a named document. */
  getDocument(name: string): Promise<{ version: number; body: string } | null>;

  /** Adds a version, which must be greater than every stored one of that name; older ones are kept. */
  putDocument(name: string, version: number, body: string): Promise<'stored' | 'stale'>;

  /** As `putDocument`, but deletes the older versions: for a document that is only of use while it is new. */
  replaceDocument(name: string, version: number, body: string): Promise<'stored' | 'stale'>;

  /** One cheap round trip; rejects when the database does not answer. */
  ping(): Promise<void>;

  /**
   * Writes a consistent copy to `path` while the store is in use, replacing what is there only once the
   * copy is complete and on disk. Where the database has its own tool for that, throws `unavailable`.
   */
  backup(path: string): Promise<void>;

  /** Refuses new writes, commits those that wait, then lets go of the database. */
  close(): Promise<void>;
}
