import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { referenceSubproof, treeOf, uniformTree } from '../../test/merkle-reference.ts';
import {
  type ConsistencyClaim,
  consistencyNodes,
  consistencyProof,
  verifyConsistency,
} from './consistency.ts';
import { emptyRoot, foldNodes, leafHash } from './hash.ts';
import { merkleRoot } from './root.ts';

const leaves = Array.from({ length: 600 }, (_, index) => leafHash(new TextEncoder().encode(`leaf ${index}`)));
const reference = treeOf(leaves);
const rootOf = (size: number) => reference(0n, BigInt(size));

function claimFor(size1: number, size2: number): ConsistencyClaim {
  const path = referenceSubproof(reference, BigInt(size1), 0n, BigInt(size2));
  return { size1, size2, root1: rootOf(size1), root2: rootOf(size2), path };
}

const growth = fc
  .integer({ min: 1, max: leaves.length })
  .chain((size2) => fc.record({ size2: fc.constant(size2), size1: fc.integer({ min: 1, max: size2 }) }));

test('every proof between trees of up to 130 leaves is the RFC one, and verifies', () => {
  const wrong: string[] = [];
  for (let size2 = 1; size2 <= 130; size2++) {
    for (let size1 = 1; size1 <= size2; size1++) {
      const claim = claimFor(size1, size2);
      const proof = consistencyProof(leaves.slice(0, size2), size1);
      if (!equal(proof, claim.path) || !verifyConsistency(claim)) wrong.push(`${size1} to ${size2}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('the nodes to read fold to the path', () => {
  fc.assert(
    fc.property(growth, ({ size1, size2 }) => {
      const path = consistencyNodes(size1, size2).map((perfect) =>
        foldNodes(
          perfect.map(({ level, index }) =>
            merkleRoot(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
          ),
        ),
      );
      expect(path).toEqual(claimFor(size1, size2).path);
    }),
  );
});

describe('a claim with anything changed is refused:', () => {
  const flip = (hash: Uint8Array, bit: number) =>
    hash.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
  const mutations: Record<string, (claim: ConsistencyClaim, random: number) => ConsistencyClaim> = {
    'a bit of the older root': (claim, random) => ({ ...claim, root1: flip(claim.root1, random % 256) }),
    'a bit of the newer root': (claim, random) => ({ ...claim, root2: flip(claim.root2, random % 256) }),
    'the roots swapped': (claim) => ({ ...claim, root1: claim.root2, root2: claim.root1 }),
    'a bit of the path': (claim, random) => ({
      ...claim,
      path: claim.path.map((hash, at) =>
        at === random % claim.path.length ? flip(hash, random % 256) : hash,
      ),
    }),
    'a hash dropped': (claim, random) => ({
      ...claim,
      path: claim.path.filter((_, at) => at !== random % claim.path.length),
    }),
    'a root appended': (claim) => ({ ...claim, path: [...claim.path, claim.root2] }),
    'a root before': (claim) => ({ ...claim, path: [claim.root1, ...claim.path] }),
    'one leaf fewer before': (claim) => ({ ...claim, size1: claim.size1 - 1 }),
    'the sizes swapped': (claim) => ({ ...claim, size1: claim.size2, size2: claim.size1 }),
    'a rewritten leaf': (claim) => {
      const rewritten = leaves.slice(0, claim.size2);
      rewritten[0] = leafHash(Uint8Array.of(255));
      return { ...claim, root2: merkleRoot(rewritten), path: consistencyProof(rewritten, claim.size1) };
    },
  };
  test.each(Object.entries(mutations))('%s', (_, mutate) => {
    fc.assert(
      fc.property(
        growth.filter(({ size1, size2 }) => size1 < size2),
        fc.nat(),
        ({ size1, size2 }, random) => {
          const claim = claimFor(size1, size2);
          expect(verifyConsistency(claim)).toBe(true);
          expect(verifyConsistency(mutate(claim, random))).toBe(false);
        },
      ),
    );
  });
});

test('nothing is consistent with the empty tree', () => {
  expect(verifyConsistency({ size1: 0, size2: 0, root1: emptyRoot(), root2: emptyRoot(), path: [] })).toBe(
    false,
  );
  expect(verifyConsistency({ size1: 0, size2: 3, root1: emptyRoot(), root2: rootOf(3), path: [] })).toBe(
    false,
  );
});

describe('at equal sizes', () => {
  const sameSize = { size1: 7, size2: 7, path: [] };

  test('equal roots of any length are consistent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (root) => {
        expect(verifyConsistency({ ...sameSize, root1: root, root2: root.slice() })).toBe(true);
        expect(verifyConsistency({ ...sameSize, root1: root, root2: root, path: [root] })).toBe(false);
      }),
    );
  });

  test('other roots are not, nor are equal values that are not bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3 }), fc.uint8Array({ maxLength: 3 }), (root1, root2) => {
        expect(verifyConsistency({ ...sameSize, root1, root2 })).toBe(Buffer.compare(root1, root2) === 0);
      }),
    );
    const values: unknown[] = ['root', [1, 2], {}, null, undefined, 1];
    for (const root of values) {
      const claim = { ...sameSize, root1: root, root2: root } as ConsistencyClaim;
      expect(verifyConsistency(claim)).toBe(false);
    }
  });
});

test.each([[0], [12], [31], [33], [64]])('a hash of %i bytes in a tree that grew is false', (length) => {
  const claim = claimFor(8, 13);
  const hash = new Uint8Array(length);
  expect(verifyConsistency({ ...claim, root1: hash })).toBe(false);
  expect(verifyConsistency({ ...claim, root2: hash })).toBe(false);
  expect(verifyConsistency({ ...claim, path: claim.path.map(() => hash) })).toBe(false);
});

test('malformed members are false, never an exception', () => {
  const claim = claimFor(6, 13);
  // A proof may hold between more than one pair of sizes, so no size that could be one.
  const garbage = fc.oneof(
    fc.anything().filter((value) => !Number.isSafeInteger(value)),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(fc.oneof(fc.anything(), fc.uint8Array({ minLength: 32, maxLength: 32 })), { maxLength: 5 }),
    fc.constantFrom(
      -1,
      0.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      2 ** 64,
      '6',
      6n,
      null,
      undefined,
    ),
  );
  fc.assert(
    fc.property(fc.constantFrom('size1', 'size2', 'root1', 'root2', 'path'), garbage, (member, value) => {
      expect(verifyConsistency({ ...claim, [member]: value })).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test('huge trees need no 32-bit arithmetic', () => {
  const common = leafHash(Uint8Array.of(0));
  const odd = leafHash(Uint8Array.of(1));
  const huge = fc
    .bigInt({ min: 2n ** 31n, max: 2n ** 53n - 1n })
    .chain((size2) => fc.record({ size2: fc.constant(size2), size1: fc.bigInt({ min: 1n, max: size2 }) }));
  fc.assert(
    fc.property(huge, ({ size1, size2 }) => {
      const tree = uniformTree(common, size1 - 1n, odd);
      const path = referenceSubproof(tree, size1, 0n, size2);
      const claim = {
        size1: Number(size1),
        size2: Number(size2),
        root1: tree(0n, size1),
        root2: tree(0n, size2),
        path,
      };
      expect(verifyConsistency(claim)).toBe(true);
      expect(consistencyNodes(claim.size1, claim.size2)).toHaveLength(path.length);
    }),
    {
      numRuns: 30,
      examples: [
        [{ size1: 2n ** 33n + 1n, size2: 2n ** 40n }],
        [{ size1: 2n ** 52n + 1n, size2: 2n ** 53n - 1n }],
      ],
    },
  );
});

test.each([
  [0, 4],
  [5, 4],
  [-1, 4],
  [1, 2 ** 53],
])('there is no proof from %d to %d', (from, size) => {
  const refusal = expect.objectContaining({ code: 'merkle_range' });
  expect(() => consistencyNodes(from, size)).toThrow(refusal);
});

test.each([[0], [5]])('nor from %d in an array of four', (from) => {
  expect(() => consistencyProof(leaves.slice(0, 4), from)).toThrow(
    expect.objectContaining({ code: 'merkle_range' }),
  );
});

function equal(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return Buffer.concat(left).equals(Buffer.concat(right));
}
