import type { TreeNode } from '@tallystick/core';

/** Total number of hashes in the tiles of a level: one for each perfect subtree of 256^level leaves. */
export function hashesAt(size: number, level: number): number {
  return Math.floor(size / 256 ** level);
}

/** Number of hashes of a tile in a tree of `size` leaves: 0 to 256. */
export function tileWidth(size: number, level: number, index: number): number {
  return Math.min(256, Math.max(0, hashesAt(size, level) - index * 256));
}

/** Number of levels of tiles in a tree. */
export function levelsOf(size: number): number {
  let levels = 0;
  while (hashesAt(size, levels) > 0) levels += 1;
  return levels;
}

/** The perfect subtrees that make up a tree, largest first: one for each set bit of its size. */
export function rootNodes(size: number): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let level = 52; level >= 0; level--) {
    const index = Math.floor(size / 2 ** level);
    if (index % 2 === 1) nodes.push({ level, index: index - 1 });
  }
  return nodes;
}
