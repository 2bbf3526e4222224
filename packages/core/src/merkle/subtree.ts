/** The leaves `[begin, end)` of a tree, where `begin` is a multiple of a power of two >= `end - begin`. */
export interface Subtree {
  begin: number;
  end: number;
}

/** The root of the perfect subtree over the leaves `[index * 2^level, (index + 1) * 2^level)`. */
export interface TreeNode {
  level: number;
  index: number;
}

/** Returns whether `value` counts the leaves of a tree: an integer in `[0, 2^53)`. */
export function isTreeSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The first leaf of the right child of a subtree of two leaves or more; the left child's width is the
 * largest power of two smaller than the whole (RFC 9162, 2.1.1).
 */
export function splitPoint({ begin, end }: Subtree): number {
  const width = end - begin;
  let left = 1;
  while (left * 2 < width) left *= 2;
  return begin + left;
}

/** The perfect subtrees that make up a subtree, largest (leftmost) first; `foldNodes` joins their hashes. */
export function perfectNodes({ begin, end }: Subtree): TreeNode[] {
  let level = 0;
  let width = 1;
  while (width * 2 <= end - begin) {
    level += 1;
    width *= 2;
  }
  const nodes: TreeNode[] = [];
  for (let at = begin; at < end; level -= 1, width /= 2) {
    if (end - at < width) continue;
    nodes.push({ level, index: at / width });
    at += width;
  }
  return nodes;
}
