import { equalBytes } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { isHash, nodeHash } from './hash.ts';
import { merkleRoot } from './root.ts';
import { isTreeSize, perfectNodes, type Subtree, splitPoint, type TreeNode } from './subtree.ts';

/** The claim that the leaf at `index` of the tree of `size` leaves under `root` has `leafHash`. */
export interface InclusionClaim {
  index: number;
  size: number;
  leafHash: Uint8Array;
  /** Sibling hashes from the leaf to the root. */
  path: readonly Uint8Array[];
  root: Uint8Array;
}

function isLeafIndex(index: unknown, size: unknown): boolean {
  return isTreeSize(index) && isTreeSize(size) && index < size;
}

function requireLeafIndex(index: number, size: number): void {
  if (isLeafIndex(index, size)) return;
  throw new TallyError('merkle_range', `There is no leaf ${index} in a tree of ${size} leaves.`);
}

/** The siblings on the way from the leaf to the root, in that order (RFC 9162, 2.1.3.1). */
function siblings(index: number, size: number): Subtree[] {
  const passed: Subtree[] = [];
  let within: Subtree = { begin: 0, end: size };
  while (within.end - within.begin > 1) {
    const middle = splitPoint(within);
    const left = { begin: within.begin, end: middle };
    const right = { begin: middle, end: within.end };
    passed.push(index < middle ? right : left);
    within = index < middle ? left : right;
  }
  return passed.reverse();
}

/**
 * Returns the nodes to read to prove the leaf at `index`: for each hash of the path, leaf to root, the perfect subtrees
 * that `foldNodes` joins into it. Only the subtree at the right edge ever takes more than one.
 * Throws `merkle_range` unless `0 <= index < size <= 2^53-1`.
 */
export function inclusionNodes(index: number, size: number): TreeNode[][] {
  requireLeafIndex(index, size);
  return siblings(index, size).map(perfectNodes);
}

/** The inclusion path of the leaf at `index`, from all leaf hashes. Throws `merkle_range` as above. */
export function inclusionProof(leafHashes: readonly Uint8Array[], index: number): Uint8Array[] {
  requireLeafIndex(index, leafHashes.length);
  return siblings(index, leafHashes.length).map(({ begin, end }) => merkleRoot(leafHashes.slice(begin, end)));
}

/** The root that the path leads to, or `undefined` when any argument is malformed or the path's length is wrong. */
function climb(
  index: number,
  size: number,
  leafHash: unknown,
  path: unknown,
  sha: Sha256,
): Uint8Array | undefined {
  if (!isLeafIndex(index, size) || !isHash(leafHash) || !Array.isArray(path)) return undefined;
  const steps = siblings(index, size);
  if (path.length !== steps.length) return undefined;
  let hash = leafHash;
  for (const [at, sibling] of steps.entries()) {
    const other: unknown = path[at];
    if (!isHash(other)) return undefined;
    hash = sibling.begin <= index ? nodeHash(other, hash, sha) : nodeHash(hash, other, sha);
  }
  return hash;
}

/**
 * The root hash that an inclusion path leads to, to be compared with a trusted one (RFC 9162, 2.1.3.2).
 * Throws `merkle_range` unless `0 <= index < size <= 2^53-1`, and `invalid_field` when the path has not
 * exactly as many hashes as the place asks for or any hash is not 32 bytes.
 */
export function rootFromInclusion(
  index: number,
  size: number,
  leafHash: Uint8Array,
  path: readonly Uint8Array[],
): Uint8Array {
  requireLeafIndex(index, size);
  const root = climb(index, size, leafHash, path, sha256);
  if (root !== undefined) return root.slice();
  throw new TallyError(
    'invalid_field',
    `The path of leaf ${index} of ${size} is malformed or of wrong length.`,
    {
      field: 'path',
    },
  );
}

/** Returns whether the claim holds (RFC 9162, 2.1.3.2). Members may be anything: malformed ones give `false`. */
export function verifyInclusion(
  { index, size, leafHash, path, root }: InclusionClaim,
  sha: Sha256 = sha256,
): boolean {
  const computed = climb(index, size, leafHash, path, sha);
  return computed !== undefined && isHash(root) && equalBytes(computed, root);
}
