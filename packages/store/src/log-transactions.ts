import { emptyRoot, equalBytes, TallyError } from '@tallystick/core';
import type {
  Advance,
  Fenced,
  LogIdentity,
  LogStore,
  PostingAttempt,
  StoredCheckpoint,
  TreeHead,
} from '@tallystick/log';
import { all, run, type Work } from './database-work.ts';
import type { LogQueries } from './log-queries.ts';
import type { SqlDatabase } from './sql-database.ts';

export interface LogState {
  nextIndex: number;
  batchFloor: number;
  headSize: number;
  headRoot: Uint8Array | null;
  leaseEpoch: number;
  origin: string | null;
  chainId: number | null;
  publicKey: string | null;
}

/** Locks and returns the log's state: nobody else writes it until the transaction ends. */
export function* lockState(queries: LogQueries): Work<LogState> {
  return stateIn(yield* all(queries.lockState, {}));
}

export function stateIn([state]: readonly LogState[]): LogState {
  if (state === undefined) throw new RangeError('The log has no state.');
  return state;
}

export function headIn({ headSize, headRoot }: LogState): TreeHead {
  return { size: headSize, root: headRoot ?? emptyRoot() };
}

/**
 * Writes for the holder of the lease. Comparing epochs is enough: a new holder has a greater one, and before that
 * nobody else has led.
 */
function* fenced<T>(
  queries: LogQueries,
  epoch: number,
  write: (state: LogState) => Work<T>,
): Work<T | Fenced> {
  const state = yield* lockState(queries);
  return state.leaseEpoch === epoch ? yield* write(state) : 'fenced';
}

/** See {@link LogStore.claimIdentity}. */
export function* claimIdentity(queries: LogQueries, identity: LogIdentity): Work<LogIdentity> {
  const { origin, chainId, publicKey } = yield* lockState(queries);
  if (origin !== null && chainId !== null && publicKey !== null) return { origin, chainId, publicKey };
  yield* run(queries.setIdentity, identity);
  return identity;
}

/** See {@link LogStore.advance}. */
export function advance(
  { queries, logTables }: SqlDatabase,
  { epoch, from, to, tiles }: Advance,
): Work<'advanced' | Fenced> {
  return fenced(queries, epoch, function* (state) {
    const head = headIn(state);
    if (sameHead(head, to)) return 'advanced';
    if (!sameHead(head, from)) return 'fenced';
    if (to.size <= from.size || to.size > state.nextIndex) {
      throw new RangeError(`A tree of ${from.size} of ${state.nextIndex} leaves cannot become ${to.size}.`);
    }
    if ((yield* logTables.putTiles(tiles)) < tiles.length) {
      throw new TallyError('log_corrupted', 'A stored tile differs from the one that would replace it.');
    }
    yield* run(queries.setHead, to);
    return 'advanced';
  });
}

/** See {@link LogStore.putCheckpoint}. */
export function putCheckpoint(
  queries: LogQueries,
  epoch: number,
  checkpoint: StoredCheckpoint,
): Work<'stored' | Fenced> {
  return fenced(queries, epoch, function* (state) {
    const [stored] = yield* all(queries.getCheckpoint, { size: checkpoint.size });
    if (!sameHead(stored ?? headIn(state), checkpoint)) return 'fenced';
    yield* run(queries.putCheckpoint, checkpoint);
    return 'stored';
  });
}

/** See {@link LogStore.closeBatch}. */
export function closeBatch(
  queries: LogQueries,
  epoch: number,
  batchAt: number,
  next: number,
): Work<number | Fenced> {
  return fenced(queries, epoch, function* ({ nextIndex, batchFloor }) {
    if (next <= batchAt) throw new RangeError('The next batch is not after the one that closes.');
    yield* run(queries.setNext, { nextIndex, batchFloor: Math.max(batchFloor, next) });
    return nextIndex;
  });
}

/** See {@link LogStore.queuePosting}. */
export function queuePosting(
  queries: LogQueries,
  epoch: number,
  posting: Parameters<LogStore['queuePosting']>[1],
  attempt: PostingAttempt,
): Work<'queued' | Fenced> {
  return fenced<'queued'>(queries, epoch, function* () {
    if (yield* hasAttempt(queries, attempt)) return 'queued';
    const [newest] = yield* all(queries.newestPosting, {});
    const { sequence, size } = newest ?? { sequence: 0, size: 0 };
    if (posting.sequence !== sequence + 1 || posting.size <= size || attempt.sequence !== posting.sequence) {
      throw new RangeError(`Posting ${posting.sequence} does not follow posting ${sequence}.`);
    }
    yield* run(queries.insertPosting, { ...posting, state: 'queued', finalizedAt: null });
    yield* run(queries.insertAttempt, { ...attempt, attempt: 1 });
    return 'queued';
  });
}

/** See {@link LogStore.addAttempt}. */
export function addAttempt(
  queries: LogQueries,
  epoch: number,
  attempt: PostingAttempt,
): Work<'added' | Fenced> {
  return fenced<'added'>(queries, epoch, function* () {
    if (yield* hasAttempt(queries, attempt)) return 'added';
    const { sequence, nonce } = attempt;
    const earlier = yield* all(queries.attemptsOf, { sequence });
    yield* run(queries.insertAttempt, { ...attempt, attempt: earlier.length + 1 });
    yield* move(queries, sequence, { state: 'queued', place: null, finalizedAt: null });
    yield* run(queries.setNonce, { sequence, nonce });
    return 'added';
  });
}

/** See {@link LogStore.movePosting}. */
export function movePosting(
  queries: LogQueries,
  epoch: number,
  sequence: number,
  to: Parameters<LogStore['movePosting']>[2],
): Work<'moved' | Fenced> {
  return fenced<'moved'>(queries, epoch, function* () {
    yield* move(queries, sequence, to);
    return 'moved';
  });
}

function* move(
  queries: LogQueries,
  sequence: number,
  { state, place, finalizedAt }: Parameters<LogStore['movePosting']>[2],
): Work<void> {
  const { txHash, blockHeight, blockHash, blockTime } = place ?? NOWHERE;
  const row = { sequence, state, txHash, blockHeight, blockHash, blockTime, finalizedAt };
  const moved = yield* run(queries.movePosting, row);
  if (moved === 0) throw new RangeError(`There is no posting ${sequence}.`);
}

const NOWHERE = { txHash: null, blockHeight: null, blockHash: null, blockTime: null };

/** Whether a call that ended in an error was carried out after all. The hash identifies the attempt with everything in it. */
function* hasAttempt(queries: LogQueries, { sequence, txHash }: PostingAttempt): Work<boolean> {
  const [attempt] = yield* all(queries.attemptByHash, { txHash });
  return attempt?.sequence === sequence;
}

function sameHead(a: TreeHead, b: TreeHead): boolean {
  return a.size === b.size && equalBytes(a.root, b.root);
}
