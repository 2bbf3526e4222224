import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { referencePath, treeOf, uniformTree } from '../../test/merkle-reference.ts';
import { foldNodes, leafHash } from './hash.ts';
import {
  type InclusionClaim,
  inclusionNodes,
  inclusionProof,
  rootFromInclusion,
  verifyInclusion,
} from './inclusion.ts';
import { merkleRoot } from './root.ts';

const leaves = Array.from({ length: 600 }, (_, index) => leafHash(new TextEncoder().encode(`leaf ${index}`)));
const reference = treeOf(leaves);

function claimFor(index: number, size: number): InclusionClaim {
  const path = referencePath(reference, BigInt(index), 0n, BigInt(size));
  return { index, size, leafHash: leaves[index]!, path, root: reference(0n, BigInt(size)) };
}

const place = fc
  .integer({ min: 1, max: leaves.length })
  .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }));

test('every proof of every tree up to 130 leaves is the RFC one, and verifies', () => {
  const wrong: string[] = [];
  for (let size = 1; size <= 130; size++) {
    for (let index = 0; index < size; index++) {
      const claim = claimFor(index, size);
      const proof = inclusionProof(leaves.slice(0, size), index);
      if (!equal(proof, claim.path) || !verifyInclusion(claim)) wrong.push(`leaf ${index} of ${size}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('the nodes to read fold to the path, and only one hash of it needs more than one', () => {
  fc.assert(
    fc.property(place, ({ index, size }) => {
      const nodes = inclusionNodes(index, size);
      const path = nodes.map((perfect) =>
        foldNodes(
          perfect.map(({ level, index }) =>
            merkleRoot(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
          ),
        ),
      );
      expect(path).toEqual(claimFor(index, size).path);
      expect(nodes.filter((perfect) => perfect.length > 1).length).toBeLessThanOrEqual(1);
      for (const { level, index } of nodes.flat()) expect((index + 1) * 2 ** level).toBeLessThanOrEqual(size);
    }),
  );
});

describe('a claim with anything changed is refused:', () => {
  const flip = (hash: Uint8Array, bit: number) =>
    hash.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
  const mutations: Record<string, (claim: InclusionClaim, random: number) => InclusionClaim> = {
    'a bit of the leaf': (claim, random) => ({ ...claim, leafHash: flip(claim.leafHash, random % 256) }),
    'a bit of the root': (claim, random) => ({ ...claim, root: flip(claim.root, random % 256) }),
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
    'a hash twice': (claim, random) => ({
      ...claim,
      path: claim.path.flatMap((hash, at) => (at === random % claim.path.length ? [hash, hash] : [hash])),
    }),
    'the root appended': (claim) => ({ ...claim, path: [...claim.path, claim.root] }),
    'the next index': (claim) => ({ ...claim, index: claim.index + 1 }),
    'the index 2^32 further': (claim) => ({
      ...claim,
      index: claim.index + 2 ** 32,
      size: claim.size + 2 ** 32,
    }),
    'twice the size': (claim) => ({ ...claim, size: claim.size * 2 }),
  };
  test.each(Object.entries(mutations))('%s', (_, mutate) => {
    fc.assert(
      fc.property(
        place.filter(({ size }) => size > 1),
        fc.nat(),
        ({ index, size }, random) => {
          const claim = claimFor(index, size);
          expect(verifyInclusion(claim)).toBe(true);
          expect(verifyInclusion(mutate(claim, random))).toBe(false);
        },
      ),
    );
  });
});

test('malformed members are false, never an exception', () => {
  const claim = claimFor(5, 13);
  // A proof may hold at more than one size, so no index or size that could be one.
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
      '5',
      5n,
      null,
      undefined,
    ),
  );
  fc.assert(
    fc.property(fc.constantFrom('index', 'size', 'leafHash', 'path', 'root'), garbage, (member, value) => {
      expect(verifyInclusion({ ...claim, [member]: value })).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test('huge trees need no 32-bit arithmetic', () => {
  const common = leafHash(Uint8Array.of(0));
  const odd = leafHash(Uint8Array.of(1));
  const huge = fc.bigInt({ min: 2n ** 31n, max: 2n ** 53n - 1n });
  const anywhere = huge.chain((size) =>
    fc.record({ size: fc.constant(size), index: fc.bigInt({ min: 0n, max: size - 1n }) }),
  );
  fc.assert(
    fc.property(anywhere, ({ size, index }) => {
      const tree = uniformTree(common, index, odd);
      const path = referencePath(tree, index, 0n, size);
      expect(rootFromInclusion(Number(index), Number(size), odd, path)).toEqual(tree(0n, size));
      expect(inclusionNodes(Number(index), Number(size))).toHaveLength(path.length);
    }),
    {
      numRuns: 30,
      examples: [
        [{ size: 2n ** 40n, index: 2n ** 33n + 1n }],
        [{ size: 2n ** 53n - 1n, index: 2n ** 53n - 2n }],
      ],
    },
  );
});

test.each([
  [0, 0],
  [1, 1],
  [-1, 4],
  [0.5, 4],
  [0, 2 ** 53],
])('there is no leaf %d in a tree of %d', (index, size) => {
  const refusal = expect.objectContaining({ code: 'merkle_range' });
  expect(() => inclusionNodes(index, size)).toThrow(refusal);
  expect(() => rootFromInclusion(index, size, leaves[0]!, [])).toThrow(refusal);
});

test('nor does an array of leaf hashes have one', () => {
  const refusal = expect.objectContaining({ code: 'merkle_range' });
  expect(() => inclusionProof([], 0)).toThrow(refusal);
  expect(() => inclusionProof(leaves.slice(0, 4), 4)).toThrow(refusal);
});

test('a path of the wrong length has no root', () => {
  const { path } = claimFor(5, 13);
  expect(() => rootFromInclusion(5, 13, leaves[5]!, path.slice(1))).toThrow(
    expect.objectContaining({ code: 'invalid_field', field: 'path' }),
  );
});

function equal(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return Buffer.concat(left).equals(Buffer.concat(right));
}
