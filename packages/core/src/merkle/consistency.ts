import { equalBytes } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { isHash, nodeHash } from './hash.ts';
import { merkleRoot } from './root.ts';
import { isTreeSize, perfectNodes, type Subtree, splitPoint, type TreeNode } from './subtree.ts';

/** The claim that the tree of `size1` leaves under `root1` is the start of the one of `size2` under `root2`. */
export interface ConsistencyClaim {
  size1: number;
  size2: number;
  root1: Uint8Array;
  root2: Uint8Array;
  /** Hashes from the older tree's right edge to the newer tree's root. */
  path: readonly Uint8Array[];
}

function isGrowth(from: unknown, size: unknown): boolean {
  return isTreeSize(from) && isTreeSize(size) && from > 0 && from <= size;
}

function requireGrowth(from: number, size: number): void {
  if (isGrowth(from, size)) return;
  throw new TallyError('merkle_range', `A tree of ${size} leaves has no consistency proof from ${from}.`);
}

/**
 * The subtrees whose hashes lead from the first `from` leaves to all `size`, bottom to top (RFC 9162,
 * 2.1.4.1). The first ends at `from`, and is left out when it is the whole older tree; every other one is
 * a sibling on the way up from there.
 */
function pathSubtrees(from: number, size: number): Subtree[] {
  const passed: Subtree[] = [];
  let within: Subtree = { begin: 0, end: size };
  while (within.end !== from) {
    const middle = splitPoint(within);
    const left = { begin: within.begin, end: middle };
    const right = { begin: middle, end: within.end };
    passed.push(from <= middle ? right : left);
    within = from <= middle ? left : right;
  }
  if (within.begin > 0) passed.push(within);
  return passed.reverse();
}

/**
 * Returns the nodes to read to prove consistency: for each hash of the path the perfect subtrees that `foldNodes` joins
 * into it. Throws `merkle_range` unless `0 < from <= size <= 2^53-1`.
 */
export function consistencyNodes(from: number, size: number): TreeNode[][] {
  requireGrowth(from, size);
  return pathSubtrees(from, size).map(perfectNodes);
}

/** The consistency path from the first `from` leaves to all. Throws `merkle_range` as above. */
export function consistencyProof(leafHashes: readonly Uint8Array[], from: number): Uint8Array[] {
  requireGrowth(from, leafHashes.length);
  return pathSubtrees(from, leafHashes.length).map(({ begin, end }) =>
    merkleRoot(leafHashes.slice(begin, end)),
  );
}

/**
 * The subtrees of SUBPROOF(from, tree, false) of RFC 6962, section 2.1.2: as those of the consistency path, but the older
 * tree itself is always among them.
 */
function subproofSubtrees(from: number, size: number): Subtree[] {
  const path = pathSubtrees(from, size);
  return path.some(({ end }) => end === from) ? path : [{ begin: 0, end: from }, ...path];
}

/**
 * Returns the nodes to read for `rebuildRoots`: for each hash the perfect subtrees that `foldNodes` joins into it. Throws
 * `merkle_range` unless `0 < from <= size <= 2^53-1`.
 */
export function subproofNodes(from: number, size: number): TreeNode[][] {
  requireGrowth(from, size);
  return subproofSubtrees(from, size).map(perfectNodes);
}

/**
 * The roots at both sizes of the one tree that has these nodes, those of SUBPROOF(from, tree, false) of RFC 6962, section
 * 2.1.2; null if the number of nodes is wrong, a node is not 32 bytes, or the sizes are not `0 < from <= size <= 2^53-1`.
 */
export function rebuildRoots(
  from: number,
  size: number,
  nodes: readonly Uint8Array[],
): { readonly older: Uint8Array; readonly newer: Uint8Array } | null {
  if (!isGrowth(from, size)) return null;
  const steps = subproofSubtrees(from, size);
  const [start, ...rest] = nodes;
  if (nodes.length !== steps.length || start === undefined || !nodes.every(isHash)) return null;
  let older = start;
  let newer = start;
  for (const [at, hash] of rest.entries()) {
    const isLeft = (steps[at + 1]?.end ?? 0) < from;
    older = isLeft ? nodeHash(hash, older) : older;
    newer = isLeft ? nodeHash(hash, newer) : nodeHash(newer, hash);
  }
  return { older, newer };
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

/**
 * Returns whether the claim holds (RFC 9162, 2.1.4.2). Members may be anything: malformed ones give `false`, and so does
 * `size1` 0, since any tree at all extends the empty one. Every hash is 32 bytes, with one exception: at equal sizes
 * nothing is hashed, so there the path is empty and the roots are the same bytes, be they 32 or not.
 */
export function verifyConsistency({ size1, size2, root1, root2, path }: ConsistencyClaim): boolean {
  if (!isGrowth(size1, size2) || !isBytes(root1) || !isBytes(root2) || !Array.isArray(path)) return false;
  if (size1 === size2) return path.length === 0 && equalBytes(root1, root2);
  if (!isHash(root1) || !isHash(root2)) return false;
  const steps = pathSubtrees(size1, size2);
  if (path.length !== steps.length) return false;
  let older = root1;
  let newer = root1;
  for (const [at, { end }] of steps.entries()) {
    const hash: unknown = path[at];
    if (!isHash(hash)) return false;
    if (end === size1) {
      older = hash;
      newer = hash;
    } else if (end < size1) {
      older = nodeHash(hash, older);
      newer = nodeHash(hash, newer);
    } else {
      newer = nodeHash(newer, hash);
    }
  }
  return equalBytes(older, root1) && equalBytes(newer, root2);
}
