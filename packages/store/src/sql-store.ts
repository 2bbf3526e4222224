import type { ApiKeyStore, OperatorKeyStore, TenantStore, WebhookStore } from '@tallystick/callers';
import type {
  CallStore,
  CompressionStore,
  ContentStore,
  LearningStore,
  RestStore,
} from '@tallystick/inference';
import type { IssuerRow } from '@tallystick/issuers';
import type {
  ConsumeOutcome,
  IdempotencyRecord,
  NewReceipt,
  OperationsStore,
  PutOutcome,
  Repeated,
  StatusHistoryStore,
} from '@tallystick/kit';
import type {
  GetOutcome,
  ReceiptListStore,
  ReceiptOwner,
  SessionListStore,
  SessionStore,
  StreamStore,
} from '@tallystick/receipts';
import { type Consume, consume } from './counters.ts';
import { all, type Work } from './database-work.ts';
import { GroupCommit } from './group-commit.ts';
import { OwnLeases } from './own-leases.ts';
import { pages } from './pages.ts';
import { type Put, putReceipts, replayOf } from './put-receipts.ts';
import type { Queries } from './queries.ts';
import { RememberedRows } from './remembered-rows.ts';
import { SqlApiKeyStore } from './sql-api-key-store.ts';
import { SqlCallStore } from './sql-call-store.ts';
import { SqlClaimStore } from './sql-claim-store.ts';
import { SqlCompressionStore } from './sql-compression-store.ts';
import { SqlContentStore } from './sql-content-store.ts';
import type { SqlDatabase } from './sql-database.ts';
import { SqlLearningStore } from './sql-learning-store.ts';
import { SqlLedgerStore } from './sql-ledger-store.ts';
import { SqlLogStore } from './sql-log-store.ts';
import { SqlOperationsStore } from './sql-operations-store.ts';
import { SqlOperatorKeyStore } from './sql-operator-key-store.ts';
import { SqlPaymentStore } from './sql-payment-store.ts';
import { SqlReceiptListStore } from './sql-receipt-list-store.ts';
import { SqlRestStore } from './sql-rest-store.ts';
import { SqlSessionListStore } from './sql-session-list-store.ts';
import { SqlSessionStore } from './sql-session-store.ts';
import { SqlStatusStore } from './sql-status-store.ts';
import { SqlStreamStore } from './sql-stream-store.ts';
import { SqlTenantStore } from './sql-tenant-store.ts';
import { SqlTreasuryStore } from './sql-treasury-store.ts';
import { SqlWebhookStore } from './sql-webhook-store.ts';
import { type CommitQueue, NO_OBSERVER, type Store, type StoreObserver } from './store.ts';
import { type IdempotentResponse, purge, putDocument, putIssuer, replaceDocument } from './transactions.ts';

const MAX_BATCH = 512;
const MAX_PENDING = 10_000;
const PURGE_LIMIT = 1_000;
const ISSUER_PAGE = 200;

type Write = { kind: 'put'; put: Put } | { kind: 'consume'; consume: Consume };

/** A {@link Store} on a SQL database. */
export class SqlStore implements Store {
  readonly log: SqlLogStore;
  readonly apiKeys: ApiKeyStore;
  readonly operatorKeys: OperatorKeyStore;
  readonly operations: OperationsStore;
  readonly ledger: SqlLedgerStore;
  readonly compression: CompressionStore;
  readonly learning: LearningStore;
  readonly treasury: SqlTreasuryStore;
  readonly payments: SqlPaymentStore;
  readonly tenants: TenantStore;
  readonly claims: SqlClaimStore;
  readonly sessions: SessionStore;
  readonly streams: StreamStore;
  readonly rests: RestStore;
  readonly receiptList: ReceiptListStore;
  readonly sessionList: SessionListStore;
  readonly #observer: StoreObserver;
  readonly calls: CallStore;
  readonly contents: ContentStore;
  readonly webhooks: WebhookStore;
  readonly statusHistory: StatusHistoryStore;
  readonly #database: SqlDatabase;
  readonly #queries: Queries;
  readonly #writes: GroupCommit<Write, PutOutcome | ConsumeOutcome>;

  constructor(database: SqlDatabase, observer: StoreObserver = NO_OBSERVER) {
    const onCommit = (queue: CommitQueue) => (seconds: number) => observer.committed(queue, seconds);
    this.#observer = observer;
    this.#database = database;
    this.#queries = database.queries;
    this.log = new SqlLogStore(database, onCommit('log'));
    const keys = new RememberedRows(() => database.outsideVersion());
    this.apiKeys = new SqlApiKeyStore(database, keys);
    this.operatorKeys = new SqlOperatorKeyStore(database);
    this.operations = new SqlOperationsStore(database);
    const leases = new OwnLeases();
    this.ledger = new SqlLedgerStore(database, { leases, onCommit: onCommit('ledger'), observer });
    this.compression = new SqlCompressionStore(database);
    this.learning = new SqlLearningStore(database);
    this.treasury = new SqlTreasuryStore(database, keys, this.ledger.slices);
    this.payments = new SqlPaymentStore(database);
    this.tenants = new SqlTenantStore(database, keys);
    this.claims = new SqlClaimStore(database, leases, onCommit('claims'));
    this.sessions = new SqlSessionStore(database);
    this.streams = new SqlStreamStore(database);
    this.rests = new SqlRestStore(database);
    this.receiptList = new SqlReceiptListStore(database);
    this.sessionList = new SqlSessionListStore(database);
    this.calls = new SqlCallStore(database);
    this.contents = new SqlContentStore(database);
    this.webhooks = new SqlWebhookStore(database);
    this.statusHistory = new SqlStatusStore(database);
    this.#writes = new GroupCommit({
      commit: (batch) => database.transaction(() => commitWrites(database, batch)),
      isRowFault: (error) => database.isRowFault(error),
      maxBatch: MAX_BATCH,
      maxPending: MAX_PENDING,
      onCommit: onCommit('receipts'),
    });
  }

  async putReceipt(row: NewReceipt, idempotency?: IdempotencyRecord): Promise<PutOutcome> {
    const outcome = (await this.#writes.submit({ kind: 'put', put: { row, idempotency } })) as PutOutcome;
    if (outcome.kind === 'stored') this.#observer.storedReceipt?.(row, null);
    return outcome;
  }

  consume(counter: string, limit: number, expiresAt: number): Promise<ConsumeOutcome> {
    const consume = { counter, limit, expiresAt };
    return this.#writes.submit({ kind: 'consume', consume }) as Promise<ConsumeOutcome>;
  }

  async getReceipt(id: string): Promise<GetOutcome> {
    const [row] = await this.#database.read(all(this.#queries.getReceipt, { id }));
    if (row === undefined) return { kind: 'unknown' };
    const { body, tenant, expiresAt } = row;
    return body === null ? { kind: 'purged', tenant } : { kind: 'found', body, tenant, expiresAt };
  }

  async ownerOf(id: string): Promise<ReceiptOwner | null> {
    const [row] = await this.#database.read(all(this.#queries.ownerOfReceipt, { id }));
    return row ?? null;
  }

  async findIdempotent(scope: string, requestHash: string, now: number): Promise<Repeated | null> {
    const [record] = await this.#database.read(all(this.#queries.findLiveRecord, { scope, now }));
    return record === undefined ? null : replayOf(record, requestHash);
  }

  purge(now: number, limit = PURGE_LIMIT): ReturnType<Store['purge']> {
    return this.#database.transaction(() => purge(this.#database, now, limit));
  }

  async getIssuer(did: string): Promise<{ record: string; sequence: number } | null> {
    const [row] = await this.#database.read(all(this.#queries.getIssuer, { did }));
    return row ?? null;
  }

  putIssuer(
    did: string,
    record: string,
    sequence: number,
    idempotency?: IdempotentResponse,
  ): Promise<'stored' | 'conflict' | Repeated> {
    return this.#database.transaction(() =>
      putIssuer(this.#database, { did, record, sequence }, idempotency),
    );
  }

  listIssuers(filter: { readonly status?: string } = {}): AsyncIterable<IssuerRow> {
    const status = filter.status ?? null;
    return pages(ISSUER_PAGE, (last: IssuerRow | undefined) => {
      const page = { after: last?.did ?? '', status, limit: ISSUER_PAGE };
      return this.#database.read(all(this.#queries.pageOfIssuers, page));
    });
  }

  async getDocument(name: string): Promise<{ version: number; body: string } | null> {
    const [row] = await this.#database.read(all(this.#queries.newestDocument, { name }));
    return row ?? null;
  }

  async getDocumentVersion(name: string, version: number): Promise<string | null> {
    const [row] = await this.#database.read(all(this.#queries.documentVersion, { name, version }));
    return row?.body ?? null;
  }

  putDocument(name: string, version: number, body: string): Promise<'stored' | 'stale'> {
    return this.#database.transaction(() => putDocument(this.#database, { name, version, body }));
  }

  replaceDocument(name: string, version: number, body: string): Promise<'stored' | 'stale'> {
    return this.#database.transaction(() => replaceDocument(this.#database, { name, version, body }));
  }

  waiting(): Record<CommitQueue, number> {
    return {
      receipts: this.#writes.waiting,
      log: this.log.waiting,
      ledger: this.ledger.waiting,
      claims: this.claims.waiting,
    };
  }

  async ping(): Promise<void> {
    await this.#database.read(all(this.#queries.ping, {}));
  }

  giveBack(pages: number): Promise<number> {
    return this.#database.giveBack(pages);
  }

  backup(path: string): Promise<void> {
    return this.#database.backup(path);
  }

  async close(): Promise<void> {
    await Promise.all([this.#writes.close(), this.log.close(), this.ledger.close(), this.claims.close()]);
    await this.#database.close();
  }
}

function* commitWrites(
  database: SqlDatabase,
  batch: readonly Write[],
): Work<(PutOutcome | ConsumeOutcome)[]> {
  const puts = batch.flatMap((write) => (write.kind === 'put' ? write.put : []));
  const requests = batch.flatMap((write) => (write.kind === 'consume' ? write.consume : []));
  const stored = yield* putReceipts(database.receiptTables, puts);
  const counted = yield* consume(database.counters, requests);
  const outcomes = { put: stored.values(), consume: counted.values() };
  return batch.map((write) => next<PutOutcome | ConsumeOutcome>(outcomes[write.kind]));
}

function next<T>(outcomes: Iterator<T, unknown>): T {
  const result = outcomes.next();
  if (result.done === true) throw new RangeError('A write has no outcome.');
  return result.value;
}
