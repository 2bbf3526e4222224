import { concatBytes, toHex, type VerifierKey } from '@tallystick/core';
import type {
  AcceptOutcome,
  AcceptRequest,
  Advance,
  ChainPosting,
  Fenced,
  Leaf,
  LeafPage,
  Lease,
  ListedLeaf,
  LogIdentity,
  LogStore,
  PostingAttempt,
  PostingPage,
  PostingState,
  StoredCheckpoint,
  Tile,
  TreeHead,
} from '@tallystick/log';
import { accept } from './accept.ts';
import { all, run, type Work } from './database-work.ts';
import { firstAtLeast } from './first-at-least.ts';
import { GroupCommit } from './group-commit.ts';
import type { ChainPostingRow, ListedLeafRow, LogQueries } from './log-queries.ts';
import { keyList } from './log-tables.ts';
import * as transactions from './log-transactions.ts';
import { pages } from './pages.ts';
import type { SqlDatabase } from './sql-database.ts';
import type { Statement } from './statement.ts';

/** The most hashes that one transaction places, and the most that may wait. */
const MAX_BATCH = 10_000;
const MAX_PENDING = 250_000;

const LEAF_PAGE = 8_192;
/** Hashes that are looked up at a time: the embedded database blocks the thread for some milliseconds. */
const HASH_PAGE = 1_024;
const TILE_PAGE = 64;
const PAGE = 200;

/** A {@link LogStore} on a SQL database. */
export class SqlLogStore implements LogStore {
  readonly #database: SqlDatabase;
  readonly #queries: LogQueries;
  readonly #accepts: GroupCommit<AcceptRequest, AcceptOutcome>;

  constructor(database: SqlDatabase, onCommit?: (seconds: number) => void) {
    this.#database = database;
    this.#queries = database.queries;
    this.#accepts = new GroupCommit({
      commit: (requests) => database.transaction(() => accept(database, requests)),
      isRowFault: (error) => database.isRowFault(error),
      weigh: ({ hashes }) => Math.max(1, hashes.length),
      maxBatch: MAX_BATCH,
      maxPending: MAX_PENDING,
      onCommit,
    });
  }

  /** See `Store.waiting`. */
  get waiting(): number {
    return this.#accepts.waiting;
  }

  claimIdentity(identity: LogIdentity): Promise<LogIdentity> {
    return this.#database.transaction(() => transactions.claimIdentity(this.#queries, identity));
  }

  async identity(): Promise<LogIdentity | null> {
    const { origin, chainId, publicKey } = await this.#state();
    return origin === null || chainId === null || publicKey === null ? null : { origin, chainId, publicKey };
  }

  accept(request: AcceptRequest): Promise<AcceptOutcome> {
    return this.#accepts.submit(request);
  }

  findLeaf(hash: Uint8Array): Promise<Leaf | null> {
    return this.#first(this.#queries.leafByHash, { hash });
  }

  async indexesOf(hashes: readonly Uint8Array[]): Promise<(number | null)[]> {
    const found: (number | null)[] = hashes.map(() => null);
    for (let start = 0; start < hashes.length; start += HASH_PAGE) {
      const page = hashes.slice(start, start + HASH_PAGE);
      const leaves = await this.#database.read(this.#database.indexesOfLeaves(page));
      for (const { position, index } of leaves) found[start + position] = index;
    }
    return found;
  }

  getLeaf(index: number): Promise<Leaf | null> {
    return this.#first(this.#queries.leafByIndex, { index });
  }

  async readLeaves(from: number, to: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let start = from; start < to; start += LEAF_PAGE) {
      const page = { from: start, to: Math.min(to, start + LEAF_PAGE) };
      const rows = await this.#database.read(all(this.#queries.hashesOfLeaves, page));
      parts.push(concatBytes(...rows.map(({ hash }) => hash)));
      if (rows.length < page.to - page.from) break;
    }
    return concatBytes(...parts);
  }

  async listLeaves({ owner, key = null, ...page }: LeafPage): Promise<ListedLeaf[]> {
    const { pageOfLeaves, pageOfAnchors } = this.#queries;
    const rows =
      owner === null
        ? await this.#all(pageOfLeaves, page)
        : await this.#all(pageOfAnchors, { ...page, owner: key === null ? owner : keyList(owner, key) });
    return rows.map(toListedLeaf);
  }

  async countAnchors(
    ...[{ owner, key = null }, ranges]: Parameters<LogStore['countAnchors']>
  ): Promise<number[]> {
    const list = key === null ? owner : keyList(owner, key);
    return this.#database.read(this.#countsOf(list, ranges));
  }

  /** One after another, so that many ranges take no more than one of the database's connections. */
  *#countsOf(owner: string, ranges: Parameters<LogStore['countAnchors']>[1]): Work<number[]> {
    const counts: number[] = [];
    for (const { from, before } of ranges) {
      const [found] = yield* all(this.#queries.countOfAnchors, { owner, from, before });
      counts.push(found?.count ?? 0);
    }
    return counts;
  }

  /** The scheduled times of leaves never fall as indexes rise, so the first ones are found by halving. */
  async firstLeavesAt(times: readonly number[]): Promise<number[]> {
    const { read, logTables } = this.#database;
    const timesAt = async (indexes: readonly number[]): Promise<Map<number, number>> => {
      const leaves = await read(logTables.leavesAt(indexes));
      return new Map(leaves.map(({ index, batchAt }) => [index, batchAt]));
    };
    return firstAtLeast(times, { from: 0, to: await this.countLeaves(), timesAt });
  }

  async countLeaves(): Promise<number> {
    return (await this.#state()).nextIndex;
  }

  async acquireLease(holder: string, ttl: number): Promise<Lease | null> {
    const [lease] = await this.#database.transaction(() => all(this.#queries.takeLease, { holder, ttl }));
    return lease ?? null;
  }

  async releaseLease(holder: string): Promise<void> {
    await this.#database.transaction(() => run(this.#queries.dropLease, { holder }));
  }

  async head(): Promise<TreeHead> {
    return transactions.headIn(await this.#state());
  }

  advance(advance: Advance): Promise<'advanced' | Fenced> {
    return this.#database.transaction(() => transactions.advance(this.#database, advance));
  }

  putCheckpoint(epoch: number, checkpoint: StoredCheckpoint): Promise<'stored' | Fenced> {
    return this.#database.transaction(() => transactions.putCheckpoint(this.#queries, epoch, checkpoint));
  }

  newestCheckpoint(): Promise<StoredCheckpoint | null> {
    return this.#first(this.#queries.newestCheckpoint, {});
  }

  getCheckpoint(size: number): Promise<StoredCheckpoint | null> {
    return this.#first(this.#queries.getCheckpoint, { size });
  }

  purgeCheckpoints(before: number, limit: number): Promise<number> {
    return this.#database.transaction(
      () => run(this.#queries.purgeCheckpoints, { before, limit }),
      'relaxed',
    );
  }

  checkpointWithin(size: number): Promise<StoredCheckpoint | null> {
    return this.#first(this.#queries.checkpointWithin, { size });
  }

  checkpointAfter(size: number): Promise<StoredCheckpoint | null> {
    return this.#first(this.#queries.pageOfCheckpoints, { after: size, limit: 1 });
  }

  listCheckpoints(): AsyncIterable<StoredCheckpoint> {
    return pages(PAGE, (last: StoredCheckpoint | undefined) =>
      this.#all(this.#queries.pageOfCheckpoints, { after: last?.size ?? -1, limit: PAGE }),
    );
  }

  async rememberWitnesses(witnesses: readonly VerifierKey[]): Promise<void> {
    const known = new Set((await this.listWitnesses()).map(keyText));
    for (const witness of witnesses) {
      if (!known.has(keyText(witness)))
        await this.#database.transaction(() => run(this.#queries.putWitness, witness));
    }
  }

  listWitnesses(): Promise<VerifierKey[]> {
    return this.#all(this.#queries.listWitnesses, {});
  }

  async getTile(level: number, index: number): Promise<Uint8Array | null> {
    return (await this.#first(this.#queries.getTile, { level, index }))?.hashes ?? null;
  }

  listTiles(): AsyncIterable<Tile> {
    return pages(TILE_PAGE, (last: Tile | undefined) => {
      const { level, index } = last ?? { level: -1, index: 0 };
      return this.#all(this.#queries.pageOfTiles, { level, index, limit: TILE_PAGE });
    });
  }

  closeBatch(epoch: number, batchAt: number, next: number): Promise<number | Fenced> {
    return this.#database.transaction(() => transactions.closeBatch(this.#queries, epoch, batchAt, next));
  }

  queuePosting(
    epoch: number,
    posting: Parameters<LogStore['queuePosting']>[1],
    attempt: PostingAttempt,
  ): Promise<'queued' | Fenced> {
    return this.#database.transaction(() =>
      transactions.queuePosting(this.#queries, epoch, posting, attempt),
    );
  }

  addAttempt(epoch: number, attempt: PostingAttempt): Promise<'added' | Fenced> {
    return this.#database.transaction(() => transactions.addAttempt(this.#queries, epoch, attempt));
  }

  movePosting(
    epoch: number,
    sequence: number,
    to: Parameters<LogStore['movePosting']>[2],
  ): Promise<'moved' | Fenced> {
    return this.#database.transaction(() => transactions.movePosting(this.#queries, epoch, sequence, to));
  }

  async newestPosting(): Promise<ChainPosting | null> {
    const row = await this.#first(this.#queries.newestPosting, {});
    return row && toPosting(row);
  }

  async firstPostingsAt(times: readonly number[]): Promise<number[]> {
    const { read, logTables } = this.#database;
    const timesAt = async (sequences: readonly number[]): Promise<Map<number, number>> => {
      const postings = await read(logTables.postingsAt(sequences));
      return new Map(postings.map(({ sequence, batchAt }) => [sequence, batchAt]));
    };
    const newest = await this.newestPosting();
    return firstAtLeast(times, { from: 1, to: (newest?.sequence ?? 0) + 1, timesAt });
  }

  async pageOfPostings({
    state = null,
    txHash = null,
    size = null,
    ...page
  }: PostingPage): Promise<ChainPosting[]> {
    const filters = { txHash, size, state };
    const driver = (['txHash', 'size', 'state'] as const).find((name) => filters[name] !== null);
    const statement = this.#queries.postingsBefore[driver ?? 'sequence'];
    return (await this.#all(statement, { ...page, ...filters })).map(toPosting);
  }

  async postingOf(leafIndex: number): Promise<ChainPosting | null> {
    const row = await this.#first(this.#queries.postingOf, { leafIndex });
    return row && toPosting(row);
  }

  listPostings(): AsyncIterable<ChainPosting> {
    return pages(PAGE, async (last: ChainPosting | undefined) => {
      const page = { after: last?.sequence ?? 0, limit: PAGE };
      return (await this.#all(this.#queries.pageOfPostings, page)).map(toPosting);
    });
  }

  listAttempts(sequence: number): Promise<PostingAttempt[]> {
    return this.#all(this.#queries.attemptsOf, { sequence });
  }

  /** Refuses new hashes, and resolves when the waiting ones have their leaves. */
  close(): Promise<void> {
    return this.#accepts.close();
  }

  async #state(): Promise<transactions.LogState> {
    return transactions.stateIn(await this.#all(this.#queries.getState, {}));
  }

  #all<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]> {
    return this.#database.read(all(statement, values));
  }

  async #first<Values, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row | null> {
    const [row] = await this.#all(statement, values);
    return row ?? null;
  }
}

const keyText = ({ name, publicKey }: VerifierKey): string => `${name} ${toHex(publicKey)}`;

function toPosting({ txHash, blockHeight, blockHash, blockTime, ...row }: ChainPostingRow): ChainPosting {
  const placed = txHash !== null && blockHeight !== null && blockHash !== null && blockTime !== null;
  const place = placed ? { txHash, blockHeight, blockHash, blockTime } : null;
  return { ...row, state: row.state as PostingState, place };
}

function toListedLeaf({ index, hash, batchAt, postedAt, ...row }: ListedLeafRow): ListedLeaf {
  const { sequence, size, root, state, nonce } = row;
  const isPosted =
    sequence !== null &&
    postedAt !== null &&
    size !== null &&
    root !== null &&
    state !== null &&
    nonce !== null;
  const posting = isPosted
    ? toPosting({ ...row, sequence, size, root, state, nonce, batchAt: postedAt })
    : null;
  return { index, hash, batchAt, posting };
}
