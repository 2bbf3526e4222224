import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { treeOf } from '../../test/merkle-reference.ts';
import { CompactRange } from './compact-range.ts';
import { leafHash } from './hash.ts';
import { merkleRoot } from './root.ts';

const leaves = Array.from({ length: 5000 }, (_, index) =>
  leafHash(new TextEncoder().encode(`leaf ${index}`)),
);
const reference = treeOf(leaves);
const rootOf = (size: number) => reference(0n, BigInt(size));

test('the root is that of the recursive definition for every size up to 130', () => {
  for (let size = 0; size <= 130; size++) {
    expect(merkleRoot(leaves.slice(0, size)), `size ${size}`).toEqual(rootOf(size));
  }
});

test('the root is that of the recursive definition for any size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 131, max: leaves.length }), (size) => {
      expect(merkleRoot(leaves.slice(0, size))).toEqual(rootOf(size));
    }),
    { numRuns: 20 },
  );
});

test('a range goes on from its state as if it had never stopped', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.nat(300), (before, after) => {
      const first = new CompactRange();
      for (const leaf of leaves.slice(0, before)) first.append(leaf);
      const resumed = new CompactRange(first.state());
      for (const leaf of leaves.slice(before, before + after)) resumed.append(leaf);
      expect(resumed.size).toBe(before + after);
      expect(resumed.root()).toEqual(rootOf(before + after));
      expect(first.root()).toEqual(rootOf(before));
    }),
  );
});

test('one hash is kept for each set bit of the size', () => {
  const range = new CompactRange();
  for (const leaf of leaves.slice(0, 1023)) range.append(leaf);
  expect(range.state().hashes).toHaveLength(10);
  range.append(leafHash(Uint8Array.of(1)));
  expect(range.state().hashes).toHaveLength(1);
});

test('what the caller does to its buffers later changes nothing', () => {
  const range = new CompactRange();
  const buffer = new Uint8Array(32).fill(7);
  range.append(buffer);
  const root = range.root();
  buffer.fill(0);
  range.root().fill(0);
  for (const hash of range.state().hashes) hash.fill(0);
  expect(range.root()).toEqual(root);

  const resumed = new CompactRange({ size: 1, hashes: [buffer.fill(7)] });
  buffer.fill(0);
  expect(resumed.root()).toEqual(root);
});

test('sizes past 32 bits carry as they should', () => {
  const below = { size: 2 ** 40 - 1, hashes: leaves.slice(0, 40) };
  const range = new CompactRange(below);
  range.append(leaves[40]!);
  expect(range.size).toBe(2 ** 40);
  expect(range.state().hashes).toHaveLength(1);
});

const hash = new Uint8Array(32);
test.each([
  ['a hash too few', { size: 3, hashes: [hash] }],
  ['a hash too many', { size: 2, hashes: [hash, hash] }],
  ['a hash of 31 bytes', { size: 1, hashes: [new Uint8Array(31)] }],
  ['a negative size', { size: -1, hashes: [] }],
  ['a fraction', { size: 0.5, hashes: [] }],
  ['a size past 2^53-1', { size: 2 ** 53, hashes: [hash] }],
])('a state with %s is refused', (_, state) => {
  expect(() => new CompactRange(state)).toThrow(expect.objectContaining({ code: 'merkle_range' }));
});

test('a leaf hash of another length is refused, and so is one leaf too many', () => {
  expect(() => new CompactRange().append(new Uint8Array(33))).toThrow(
    expect.objectContaining({ code: 'invalid_field' }),
  );
  const full = new CompactRange({
    size: Number.MAX_SAFE_INTEGER,
    hashes: Array.from({ length: 53 }, () => hash),
  });
  expect(() => full.append(hash)).toThrow(expect.objectContaining({ code: 'merkle_range' }));
});
