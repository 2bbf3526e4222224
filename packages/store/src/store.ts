import type { ApiKeyStore, OperatorKeyStore, TenantStore, WebhookStore } from '@tallystick/callers';
import type {
  CallStore,
  CompressionStore,
  ContentStore,
  LearningStore,
  RestStore,
} from '@tallystick/inference';
import type { IssuerStore } from '@tallystick/issuers';
import type {
  CounterStore,
  DocumentStore,
  NewReceipt,
  OperationsStore,
  StatusHistoryStore,
} from '@tallystick/kit';
import type { ClaimStore, LedgerStore, NanoUsdc } from '@tallystick/ledger';
import type { LogStore } from '@tallystick/log';
import type { PaymentStore, TreasuryStore } from '@tallystick/payments';
import type {
  ReceiptListStore,
  ReceiptStore,
  SessionListStore,
  SessionStore,
  StreamStore,
} from '@tallystick/receipts';

/** The writes that share transactions: receipts and counters; hashes; money; claims of an `Idempotency-Key`. */
export type CommitQueue = 'receipts' | 'log' | 'ledger' | 'claims';

/** Told of what the store does. */
export interface StoreObserver {
  /** A transaction of a queue has ended, also where it failed. */
  committed(queue: CommitQueue, seconds: number): void;
  /** A receipt was stored. @param charged what its settlement charged; null of a receipt without one */
  storedReceipt?(receipt: NewReceipt, charged: NanoUsdc | null): void;
}

export const NO_OBSERVER: StoreObserver = { committed: () => undefined };

/**
 * Everything that the service stores. Every adapter passes the same suite, `store-suite.ts`.
 * Durability: a write resolves only after its transaction is on disk, so what was answered survives a crash of the
 * process and of the machine. A write that rejects may or may not have happened (the connection can break at the
 * commit); repeat it with the same id or idempotency scope to find out.
 * Ordering: writes of one process commit in the order of their calls, and a read sees every write that resolved before
 * it was called, in this process or in another.
 * Concurrency: any number of calls at once, from any number of processes on one database. `putReceipt` and `consume`
 * share transactions (group commit): many calls, one flush to disk. A call whose own data are refused rejects alone;
 * when the transaction itself fails, all that share it reject.
 * Errors: `unavailable` when the database cannot be reached or written, when too many writes wait already, and for any
 * call after `close`.
 */
export interface Store extends ReceiptStore, CounterStore, DocumentStore, IssuerStore {
  readonly log: LogStore;
  readonly apiKeys: ApiKeyStore;
  readonly operatorKeys: OperatorKeyStore;
  readonly operations: OperationsStore;
  readonly ledger: LedgerStore;
  readonly compression: CompressionStore;
  readonly learning: LearningStore;
  readonly treasury: TreasuryStore;
  readonly payments: PaymentStore;
  readonly tenants: TenantStore;
  readonly claims: ClaimStore;
  readonly sessions: SessionStore;
  readonly streams: StreamStore;
  readonly rests: RestStore;
  readonly receiptList: ReceiptListStore;
  readonly sessionList: SessionListStore;
  readonly calls: CallStore;
  readonly contents: ContentStore;
  readonly webhooks: WebhookStore;
  readonly statusHistory: StatusHistoryStore;

  /** How much waits for its transaction to begin: hashes in the log's queue, writes in the others. From memory. */
  waiting(): Record<CommitQueue, number>;

  /**
   * Gives space that deleted rows left back to the file system: at most `pages` pages of 8 kB at once, and none while they are less than an
   * eighth of the file, since the next rows use them. Returns how many. PostgreSQL does it by itself as far as it can, so there it is 0.
   */
  giveBack(pages: number): Promise<number>;

  /**
   * Writes a consistent copy to `path` while the store is in use: a file with mode 0600 for SQLite, a folder with a base
   * backup for PostgreSQL. What exists there is replaced only once the copy is complete and on disk.
   * @throws unavailable if PostgreSQL does not archive its WAL, or if its program is missing or fails
   */
  backup(path: string): Promise<void>;

  /** Refuses new writes, commits the waiting ones, then closes the connections. */
  close(): Promise<void>;
}
