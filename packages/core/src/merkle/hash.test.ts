import { expect, test } from 'vitest';
import { toHex } from '../encoding/hex.ts';
import { emptyRoot, foldNodes, leafHash, nodeHash } from './hash.ts';

test('hashes are domain separated as RFC 9162 says', () => {
  expect(toHex(emptyRoot())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(toHex(leafHash(new Uint8Array(0)))).toBe(
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  );
  expect(toHex(nodeHash(leafHash(new Uint8Array(0)), leafHash(Uint8Array.of(0))))).toBe(
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  );
});

test('a caller can not change the empty root for others', () => {
  emptyRoot().fill(0);
  expect(toHex(emptyRoot())).toMatch(/^e3b0c442/);
});

test('folding copies, so that no result aliases what went in', () => {
  const hash = leafHash(Uint8Array.of(1));
  foldNodes([hash]).fill(0);
  expect(hash).toEqual(leafHash(Uint8Array.of(1)));
});

test.each([
  [31, 32],
  [32, 33],
  [33, 31],
])('a node of children of %i and %i bytes is refused', (left, right) => {
  expect(() => nodeHash(new Uint8Array(left), new Uint8Array(right))).toThrow(
    expect.objectContaining({ code: 'invalid_field' }),
  );
});
