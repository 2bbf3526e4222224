import { setImmediate } from 'node:timers/promises';
import { TallyError } from '@tallystick/core';
import type { LogStore, Tile } from './log-store.ts';
import { growEdge, type RightEdge } from './right-edge.ts';
import { HASH_BYTES } from './tree-hash.ts';

/** Leaves that are hashed before the event loop gets its turn: about 2 ms. */
const TURN_LEAVES = 1_024;

/** Whether this process still leads, called with the number of leaves in the tree so far, which may not be stored yet. */
export type Leads = (size: number) => boolean;

/**
 * Appends the accepted leaves up to `size` to a tree. Returns its new edge; null once `leads` returns false.
 * @param onFull gets the tiles that were filled in each turn
 * @throws log_corrupted where an accepted leaf is missing
 */
export async function growTree(
  store: Pick<LogStore, 'readLeaves'>,
  from: RightEdge,
  size: number,
  leads: Leads,
  onFull: (tiles: readonly Tile[]) => Promise<void>,
): Promise<RightEdge | null> {
  let edge = from;
  while (edge.size < size) {
    const leaves = await readLeaves(store, edge.size, Math.min(size, edge.size + TURN_LEAVES));
    const grown = growEdge(edge, leaves);
    edge = grown.edge;
    await onFull(grown.full);
    await setImmediate();
    if (!leads(edge.size)) return null;
  }
  return edge;
}

async function readLeaves(
  store: Pick<LogStore, 'readLeaves'>,
  from: number,
  to: number,
): Promise<Uint8Array> {
  const leaves = await store.readLeaves(from, to);
  if (leaves.length === (to - from) * HASH_BYTES) return leaves;
  throw new TallyError('log_corrupted', `Some of the accepted leaves ${from} to ${to - 1} are missing.`);
}
