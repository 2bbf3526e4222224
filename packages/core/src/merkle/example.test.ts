import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromHex, toHex } from '../encoding/hex.ts';
import { consistencyProof, verifyConsistency } from './consistency.ts';
import { leafHash } from './hash.ts';
import { inclusionProof, verifyInclusion } from './inclusion.ts';
import { merkleRoot } from './root.ts';

test('the example of spec/merkle.md is true', () => {
  const text = readFileSync(new URL('../../../../spec/merkle.md', import.meta.url), 'utf8');
  const example = JSON.parse(/```json\n(.*?)```/s.exec(text)![1]!) as {
    leaves: string[];
    leaf_hashes: string[];
    roots: string[];
    inclusion: { index: number; size: number; path: string[] };
    consistency: { size1: number; size2: number; path: string[] };
  };
  const leaves = example.leaves.map((leaf) => leafHash(fromHex(leaf)));
  expect(leaves.map(toHex)).toEqual(example.leaf_hashes);
  expect(example.roots.map((_, size) => toHex(merkleRoot(leaves.slice(0, size))))).toEqual(example.roots);
  const root = (size: number) => fromHex(example.roots[size]!);

  const { index, size } = example.inclusion;
  const inclusionPath = inclusionProof(leaves, index);
  expect(inclusionPath.map(toHex)).toEqual(example.inclusion.path);
  expect(
    verifyInclusion({ index, size, leafHash: leaves[index]!, path: inclusionPath, root: root(size) }),
  ).toBe(true);

  const { size1, size2 } = example.consistency;
  const path = consistencyProof(leaves, size1);
  expect(path.map(toHex)).toEqual(example.consistency.path);
  expect(verifyConsistency({ size1, size2, root1: root(size1), root2: root(size2), path })).toBe(true);
});
