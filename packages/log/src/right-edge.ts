import { foldNodes, TallyError, tilePath } from '@tallystick/core';
import { nodeSha256 } from '@tallystick/kit';
import type { LogStore, Tile } from './log-store.ts';
import { asBuffer, HASH_BYTES, hashAt, hashLeaves, pyramid } from './tree-hash.ts';
import { hashesAt, levelsOf } from './tree-shape.ts';

const TILE_BYTES = 256 * HASH_BYTES;

/** What is needed to grow a tree: the partial tile of each level, lowest first, 0 to 255 hashes each. */
export interface RightEdge {
  readonly size: number;
  readonly partials: readonly Buffer[];
}

export const emptyEdge: RightEdge = { size: 0, partials: [] };

/** Reads the edge of the first `size` leaves from the tiles. @throws log_corrupted where a tile is missing */
export async function readEdge(store: Pick<LogStore, 'getTile'>, size: number): Promise<RightEdge> {
  const partials: Buffer[] = [];
  for (let level = 0; level < levelsOf(size); level++) {
    const hashes = hashesAt(size, level);
    partials.push(await readPartial(store, level, Math.floor(hashes / 256), hashes % 256));
  }
  return { size, partials };
}

async function readPartial(
  store: Pick<LogStore, 'getTile'>,
  level: number,
  index: number,
  width: number,
): Promise<Buffer> {
  if (width === 0) return Buffer.alloc(0);
  const tile = await store.getTile(level, index);
  if (tile === null || tile.length < width * HASH_BYTES) {
    throw new TallyError(
      'log_corrupted',
      `The log lacks ${tilePath(level, index, width)} of its right edge.`,
    );
  }
  return asBuffer(tile).subarray(0, width * HASH_BYTES);
}

/** The root of the tree with this edge, 32 bytes. */
export function edgeRoot(edge: RightEdge): Uint8Array {
  return foldNodes(edge.partials.flatMap(perfectSubtrees).reverse(), nodeSha256);
}

/** The perfect subtrees that make up a partial tile, smallest (rightmost) first. */
function perfectSubtrees(partial: Buffer): Uint8Array[] {
  return pyramid(partial).flatMap((hashes) => {
    const count = hashes.length / HASH_BYTES;
    return count % 2 === 1 ? [hashAt(hashes, count - 1)] : [];
  });
}

/**
 * Appends entries of 32 bytes each, concatenated. `full` has the tiles that they fill, whose roots go into the level
 * above; what remains partial is the new edge. The inputs are not changed.
 */
export function growEdge(edge: RightEdge, entries: Uint8Array): { edge: RightEdge; full: Tile[] } {
  const partials = [...edge.partials];
  const full: Tile[] = [];
  let added = hashLeaves(entries);
  for (let level = 0; added.length > 0; level++) {
    const row = Buffer.concat([partials[level] ?? Buffer.alloc(0), added]);
    let index = Math.floor(hashesAt(edge.size, level) / 256);
    let at = 0;
    const roots: Uint8Array[] = [];
    for (; at + TILE_BYTES <= row.length; at += TILE_BYTES, index++) {
      const hashes = row.subarray(at, at + TILE_BYTES);
      full.push({ level, index, hashes });
      roots.push(tileRoot(hashes));
    }
    partials[level] = row.subarray(at);
    added = Buffer.concat(roots);
  }
  return { edge: { size: edge.size + entries.length / HASH_BYTES, partials }, full };
}

/** The root of the perfect subtree over a full tile: the tile's hash in the level above. */
export function tileRoot(full: Uint8Array): Uint8Array {
  return pyramid(full)[8] ?? new Uint8Array(0);
}

/** The partial tiles that grew, or began, since the tree had `from` leaves. */
export function changedPartials(from: number, edge: RightEdge): Tile[] {
  return edge.partials.flatMap((hashes, level) => {
    const count = hashesAt(edge.size, level);
    const changed = hashes.length > 0 && count > hashesAt(from, level);
    return changed ? [{ level, index: Math.floor(count / 256), hashes }] : [];
  });
}
