import { GroupCommit } from './group-commit.ts';
import type { Lookup, Queries } from './queries.ts';
import { type Consume, type Put, repeat, type SqlDatabase } from './sql-database.ts';
import type { Session } from './statement.ts';
import type {
  ConsumeOutcome,
  GetOutcome,
  IdempotencyRecord,
  IssuerRow,
  PutOutcome,
  ReceiptRow,
  Repeated,
  Store,
} from './store.ts';

const MAX_BATCH = 512;
const MAX_PENDING = 10_000;
const PURGE_LIMIT = 1_000;
const ISSUER_PAGE = 200;

type Write = { kind: 'put'; put: Put } | { kind: 'consume'; consume: Consume };

/** A {@link Store} on a SQL database. */
export class SqlStore<S extends Session> implements Store {
  readonly #database: SqlDatabase<S>;
  readonly #queries: Queries;
  readonly #writes: GroupCommit<Write, PutOutcome | ConsumeOutcome>;

  constructor(database: SqlDatabase<S>) {
    this.#database = database;
    this.#queries = database.queries;
    this.#writes = new GroupCommit({
      commit: (batch) => commitWrites(database, batch),
      isRowFault: (error) => database.isRowFault(error),
      maxBatch: MAX_BATCH,
      maxPending: MAX_PENDING,
    });
  }

  putReceipt(row: ReceiptRow, idempotency?: IdempotencyRecord): Promise<PutOutcome> {
    return this.#writes.submit({ kind: 'put', put: { row, idempotency } }) as Promise<PutOutcome>;
  }

  consume(counter: string, limit: number, expiresAt: number): Promise<ConsumeOutcome> {
    const consume = { counter, limit, expiresAt };
    return this.#writes.submit({ kind: 'consume', consume }) as Promise<ConsumeOutcome>;
  }

  async getReceipt(id: string): Promise<GetOutcome> {
    const [row] = await this.#database.read((session) => session.all(this.#queries.getReceipt, { id }));
    if (row === undefined) return { kind: 'unknown' };
    return row.body === null ? { kind: 'purged' } : { kind: 'found', body: row.body, tenant: row.tenant };
  }

  async findIdempotent(scope: string, requestHash: string, now: number): Promise<Repeated | null> {
    const [record] = await this.#database.read((session) =>
      session.all(this.#queries.findLiveRecord, { scope, now }),
    );
    return record === undefined ? null : repeat(record, requestHash);
  }

  purge(now: number, limit = PURGE_LIMIT): ReturnType<Store['purge']> {
    return this.#database.transaction(async (session) => {
      const { purgeIdempotency, purgeReceipts, purgeCounters } = this.#queries;
      const idempotency = await session.run(purgeIdempotency, { now, limit });
      // A record replays its receipt's body: none may be left behind when the body goes.
      const receipts = idempotency < limit ? await session.run(purgeReceipts, { now, limit }) : 0;
      const counters = await session.run(purgeCounters, { now, limit });
      return { receipts, idempotency, counters };
    });
  }

  async getIssuer(did: string): Promise<{ record: string; sequence: number } | null> {
    const [row] = await this.#database.read((session) => session.all(this.#queries.getIssuer, { did }));
    return row ?? null;
  }

  putIssuer(
    did: string,
    record: string,
    sequence: number,
    idempotency?: IdempotencyRecord & { readonly response: string },
  ): Promise<'stored' | 'conflict' | Repeated> {
    const queries = this.#queries;
    return this.#database.transaction(async (session) => {
      if (idempotency !== undefined) {
        const earlier = await claim(session, queries, idempotency);
        if (earlier !== null) return repeat(earlier, idempotency.requestHash);
      }
      const row = { did, record, sequence, previous: sequence - 1 };
      const swapped = await session.run(sequence === 1 ? queries.insertIssuer : queries.replaceIssuer, row);
      if (swapped === 1) return 'stored';
      if (idempotency !== undefined) await session.run(queries.releaseScope, idempotency);
      return 'conflict';
    });
  }

  async *listIssuers(filter: { readonly status?: string } = {}): AsyncGenerator<IssuerRow, void, undefined> {
    const status = filter.status ?? null;
    let page: IssuerRow[];
    let after = '';
    do {
      page = await this.#database.read((session) =>
        session.all(this.#queries.pageOfIssuers, { after, status, limit: ISSUER_PAGE }),
      );
      yield* page;
      after = page.at(-1)?.did ?? after;
    } while (page.length === ISSUER_PAGE);
  }

  async getDocument(name: string): Promise<{ version: number; body: string } | null> {
    const [row] = await this.#database.read((session) => session.all(this.#queries.newestDocument, { name }));
    return row ?? null;
  }

  putDocument(name: string, version: number, body: string): Promise<'stored' | 'stale'> {
    return this.#database.transaction(async (session) => {
      await this.#database.lockDocuments(session);
      const [newest] = await session.all(this.#queries.newestDocument, { name });
      if (newest !== undefined && newest.version >= version) return 'stale';
      await session.run(this.#queries.insertDocument, { name, version, body });
      return 'stored';
    });
  }

  async ping(): Promise<void> {
    await this.#database.read((session) => session.all(this.#queries.ping, {}));
  }

  backup(path: string): Promise<void> {
    return this.#database.backup(path);
  }

  async close(): Promise<void> {
    await this.#writes.close();
    await this.#database.close();
  }
}

/** Writes the record, or answers the one that holds the scope. Loops when that is purged in between. */
async function claim(
  session: Session,
  queries: Queries,
  record: IdempotencyRecord & { readonly response: string },
): Promise<Lookup | null> {
  for (;;) {
    if ((await session.run(queries.claimScope, { ...record, receiptId: null })) === 1) return null;
    const [earlier] = await session.all(queries.findRecord, record);
    if (earlier !== undefined) return earlier;
  }
}

async function commitWrites<S extends Session>(
  database: SqlDatabase<S>,
  batch: readonly Write[],
): Promise<(PutOutcome | ConsumeOutcome)[]> {
  const puts = batch.flatMap((write) => (write.kind === 'put' ? write.put : []));
  const requests = batch.flatMap((write) => (write.kind === 'consume' ? write.consume : []));
  return database.transaction(async (session) => {
    const stored = (puts.length === 0 ? [] : await database.putReceipts(session, puts)).values();
    const counted = (requests.length === 0 ? [] : await database.consume(session, requests)).values();
    return batch.map((write) => next<PutOutcome | ConsumeOutcome>(write.kind === 'put' ? stored : counted));
  });
}

function next<T>(outcomes: Iterator<T, unknown>): T {
  const result = outcomes.next();
  if (result.done === true) throw new RangeError('A write has no outcome.');
  return result.value;
}
