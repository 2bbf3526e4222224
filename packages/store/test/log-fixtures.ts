import { createHash } from 'node:crypto';
import type { AcceptRequest, Leaf, LogStore, PostingAttempt, TreeHead } from '../../log/src/log-store.ts';
import { collect, times } from './test-database.ts';

/** 2027-01-15T08:00:00Z, on the hour. */
export const HOUR = 1_800_000_000;

/** The 32 bytes that stand for `name`. */
export function hash(name: string | number): Uint8Array {
  return new Uint8Array(createHash('sha256').update(String(name)).digest());
}

export function request(
  names: readonly (string | number)[],
  change: Partial<AcceptRequest> = {},
): AcceptRequest {
  return { hashes: names.map(hash), batchAt: HOUR, quota: null, ...change };
}

/** Accepts hashes that are within every quota. */
export async function place(
  log: LogStore,
  names: readonly (string | number)[],
  change: Partial<AcceptRequest> = {},
): Promise<readonly Leaf[]> {
  const outcome = await log.accept(request(names, change));
  if (outcome.kind !== 'accepted') throw new Error('over quota');
  return outcome.leaves;
}

/** All leaves of the log, by their indexes. */
export async function allLeaves(log: LogStore): Promise<Leaf[]> {
  const leaves = await Promise.all(times(await log.countLeaves(), (index) => log.getLeaf(index)));
  return leaves.flatMap((leaf) => leaf ?? []);
}

/** Takes the lease and answers its epoch. */
export async function lead(log: LogStore, holder = 'leader'): Promise<number> {
  const lease = await log.acquireLease(holder, 60);
  if (lease === null) throw new Error('Another holds the lease.');
  return lease.epoch;
}

export function head(size: number): TreeHead {
  return { size, root: hash(`root of ${size}`) };
}

export function attempt(sequence: number, nonce: number, name = `${sequence} ${nonce}`): PostingAttempt {
  return {
    sequence,
    nonce,
    txHash: `0x${Buffer.from(hash(name)).toString('hex')}`,
    raw: `0x02${name}`,
    maxFeePerGas: '340282366920938463463374607431768211455',
    maxPriorityFeePerGas: '1',
    createdAt: HOUR,
  };
}

/** Everything that the log holds. */
export async function contents(log: LogStore): Promise<unknown> {
  const postings = await collect(log.listPostings());
  return {
    leaves: await allLeaves(log),
    head: await log.head(),
    tiles: await collect(log.listTiles()),
    checkpoints: await collect(log.listCheckpoints()),
    postings,
    attempts: await Promise.all(postings.map(({ sequence }) => log.listAttempts(sequence))),
  };
}
