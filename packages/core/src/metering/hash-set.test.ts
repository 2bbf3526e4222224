import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { HashSet } from './hash-set.ts';

/** Few values a byte, so that equal and nearly equal hashes are common. */
const hashes = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32, max: 1 }).map(sparse), {
  maxLength: 300,
});

/** All but the bytes 0 and 31 cleared. */
function sparse(bytes: Uint8Array): Uint8Array {
  return bytes.fill(0, 1, 31);
}

test('knows exactly what was added', () => {
  fc.assert(
    fc.property(hashes, (list) => {
      const set = new HashSet();
      const seen = new Set<string>();
      for (const hash of list) {
        const text = Buffer.from(hash).toString('hex');
        expect(set.add(hash)).toBe(!seen.has(text));
        seen.add(text);
      }
    }),
  );
});

test('grows over 200,000 hashes, keeps each, and takes no neighbour for another', () => {
  const set = new HashSet();
  const hash = (n: number): Uint8Array => createHash('sha256').update(String(n)).digest();
  for (let n = 0; n < 200_000; n++) expect(set.add(hash(n))).toBe(true);
  for (let n = 0; n < 200_000; n += 7) {
    const again = hash(n);
    expect(set.add(again)).toBe(false);
    again[n % 32] = (again[n % 32] ?? 0) ^ 1;
    expect(set.add(again)).toBe(true);
  }
});

test('keeps a copy', () => {
  const set = new HashSet();
  const hash = new Uint8Array(32).fill(7);
  const copy = Uint8Array.from(hash);
  set.add(hash);
  hash.fill(0);
  expect(set.add(copy)).toBe(false);
});
