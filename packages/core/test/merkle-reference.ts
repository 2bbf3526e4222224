import { createHash } from 'node:crypto';

/**
 * RFC 9162, 2.1 as the text defines it, recursively and on BigInt, over any tree that can give the hash of
 * its leaves `[begin, end)`. The tests compare the iterative code with it.
 */
export type TreeHash = (begin: bigint, end: bigint) => Uint8Array;

function sha256(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());
}

function referenceNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Uint8Array.of(1), left, right);
}

/** The largest power of two smaller than n. */
function split(n: bigint): bigint {
  return 1n << BigInt((n - 1n).toString(2).length - 1);
}

function memoised(
  leafAt: (index: bigint) => Uint8Array,
  keyOf: (begin: bigint, end: bigint) => string,
): TreeHash {
  const known = new Map<string, Uint8Array>();
  const hash: TreeHash = (begin, end) => {
    if (begin === end) return sha256();
    if (end - begin === 1n) return leafAt(begin);
    const key = keyOf(begin, end);
    const middle = begin + split(end - begin);
    const value = known.get(key) ?? referenceNode(hash(begin, middle), hash(middle, end));
    known.set(key, value);
    return value;
  };
  return hash;
}

/** The tree over these leaf hashes. */
export function treeOf(leafHashes: readonly Uint8Array[]): TreeHash {
  return memoised(
    (index) => leafHashes[Number(index)]!,
    (begin, end) => `${begin}:${end}`,
  );
}

/** A tree of any size whose leaf hashes are all `common` but for the one at `index`. */
export function uniformTree(common: Uint8Array, index: bigint, odd: Uint8Array): TreeHash {
  return memoised(
    (at) => (at === index ? odd : common),
    (begin, end) => (begin <= index && index < end ? `${begin}:${end}` : `${end - begin}`),
  );
}

/** PATH(m, D[begin:end]) of RFC 9162, 2.1.3.1. */
export function referencePath(hash: TreeHash, m: bigint, begin: bigint, end: bigint): Uint8Array[] {
  if (end - begin === 1n) return [];
  const middle = begin + split(end - begin);
  return m < middle
    ? [...referencePath(hash, m, begin, middle), hash(middle, end)]
    : [...referencePath(hash, m, middle, end), hash(begin, middle)];
}

/** SUBPROOF(m, D[begin:end], b) of RFC 9162, 2.1.4.1, where m counts from the tree's first leaf. */
export function referenceSubproof(
  hash: TreeHash,
  m: bigint,
  begin: bigint,
  end: bigint,
  b: boolean = true,
): Uint8Array[] {
  if (m === end) return b ? [] : [hash(begin, end)];
  const middle = begin + split(end - begin);
  return m <= middle
    ? [...referenceSubproof(hash, m, begin, middle, b), hash(middle, end)]
    : [...referenceSubproof(hash, m, middle, end, false), hash(begin, middle)];
}
