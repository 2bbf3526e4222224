import type { ApiKeyStore } from './api-key-store.ts';
import type { ClaimStore } from './claim-store.ts';
import type { CompressionStore } from './compression-store.ts';
import type { CounterStore } from './counter-store.ts';
import type { DocumentStore } from './document-store.ts';
import type { IdempotencyStore } from './idempotency-store.ts';
import type { IssuerStore } from './issuer-store.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { LogStore } from './log-store.ts';
import type { PaymentStore } from './payment-store.ts';
import type { ReceiptStore } from './receipt-store.ts';
import type { TenantStore } from './tenant-store.ts';
import type { TreasuryStore } from './treasury-store.ts';

/**
 * What the service keeps. Every adapter passes the one suite in `test/store/store-suite.ts`.
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
export interface Store extends ReceiptStore, IdempotencyStore, CounterStore, IssuerStore, DocumentStore {
  readonly log: LogStore;
  readonly apiKeys: ApiKeyStore;
  readonly ledger: LedgerStore;
  readonly compression: CompressionStore;
  readonly treasury: TreasuryStore;
  readonly payments: PaymentStore;
  readonly tenants: TenantStore;
  readonly claims: ClaimStore;

  /**
   * Deletes what has expired at `now` (unix seconds), at most `limit` rows of each kind; call again until
   * all counts are below `limit`. A receipt loses its body and leaves its id and tenant, so that it reads
   * as `purged` to whom it was readable. Safe to run in several processes at once.
   */
  purge(now: number, limit?: number): Promise<{ receipts: number; idempotency: number; counters: number }>;

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
