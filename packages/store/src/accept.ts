import type { AcceptOutcome, AcceptRequest, Leaf } from '@tallystick/log';
import { lockUsed, saveUsed } from './counters.ts';
import { run, type Work } from './database-work.ts';
import { type AnchorRow, keyList } from './log-tables.ts';
import { lockState } from './log-transactions.ts';
import type { SqlDatabase } from './sql-database.ts';

/** The index of the next leaf, and the earliest batch that it may be in. */
interface Next {
  readonly nextIndex: number;
  readonly batchFloor: number;
}

interface Placement extends Next {
  readonly outcomes: AcceptOutcome[];
  readonly added: Leaf[];
}

/** See {@link LogStore.accept}: places the hashes of many requests, in their order. */
export function* accept(
  { queries, counters, logTables }: SqlDatabase,
  requests: readonly AcceptRequest[],
): Work<AcceptOutcome[]> {
  const distinct = [...keyed(requests.flatMap(({ hashes }) => hashes)).values()];
  const quotas = requests.flatMap(({ quota }) => quota ?? []);
  const before = yield* lockUsed(counters, quotas);
  const { leaves, held } = yield* logTables.findLeaves(distinct, lockState(queries));
  const known = new Map(leaves.map((leaf) => [keyOf(leaf.hash), leaf]));
  const used = new Map(before);
  const placement = place(requests, known, used, held);
  if (placement.added.length > 0) {
    yield* logTables.insertLeaves(placement.added);
    yield* run(queries.setNext, placement);
    yield* saveUsed(counters, quotas, before, used);
  }
  yield* logTables.insertAnchors(anchorsOf(requests, placement.outcomes));
  return placement.outcomes;
}

/** The leaves of each request that says whose list they enter, in the account's list and in its key's part of it. */
function anchorsOf(requests: readonly AcceptRequest[], outcomes: readonly AcceptOutcome[]): AnchorRow[] {
  return outcomes.flatMap((outcome, at) => {
    const { owner = null, key = null } = requests[at] ?? {};
    if (owner === null || outcome.kind !== 'accepted') return [];
    const lists = key === null ? [owner] : [owner, keyList(owner, key)];
    return lists.flatMap((list) => outcome.leaves.map(({ index }) => ({ owner: list, index })));
  });
}

/** Gives each request its leaves, in order. Adds the new leaves to `known`, and counts them in `used`. */
function place(
  requests: readonly AcceptRequest[],
  known: Map<string, Leaf>,
  used: Map<string, number>,
  next: Next,
): Placement {
  let { nextIndex, batchFloor } = next;
  const added: Leaf[] = [];
  const outcomes = requests.map(({ hashes, batchAt, quota }): AcceptOutcome => {
    const fresh = [...keyed(hashes)].filter(([key]) => !known.has(key));
    if (quota !== null && fresh.length > 0) {
      const before = used.get(quota.counter) ?? 0;
      const after = before + fresh.length;
      if (after > quota.limit) return { kind: 'over_quota', used: before, requested: fresh.length };
      used.set(quota.counter, after);
    }
    if (fresh.length > 0) batchFloor = Math.max(batchFloor, batchAt);
    for (const [key, hash] of fresh) {
      const leaf = { index: nextIndex, hash, batchAt: batchFloor };
      nextIndex += 1;
      known.set(key, leaf);
      added.push(leaf);
    }
    return {
      kind: 'accepted',
      leaves: hashes.flatMap((hash) => known.get(keyOf(hash)) ?? []),
      ...(quota !== null && { used: used.get(quota.counter) ?? 0 }),
    };
  });
  return { outcomes, added, nextIndex, batchFloor };
}

/** The distinct hashes, by a key that a map can compare. */
function keyed(hashes: readonly Uint8Array[]): Map<string, Uint8Array> {
  return new Map(hashes.map((hash) => [keyOf(hash), hash]));
}

function keyOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1');
}
