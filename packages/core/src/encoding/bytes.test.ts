import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { concatBytes, equalBytes, utf8 } from './bytes.ts';

test('utf8 encodes past the basic plane', () => {
  expect(utf8('é😂')).toEqual(Uint8Array.of(0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x82));
});

test('concatBytes keeps order and copies', () => {
  const part = Uint8Array.of(1, 2);
  const whole = concatBytes(part, new Uint8Array(), Uint8Array.of(3));
  part.fill(9);
  expect(whole).toEqual(Uint8Array.of(1, 2, 3));
  expect(concatBytes()).toEqual(new Uint8Array());
});

test('equalBytes is equality', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      expect(equalBytes(a, Uint8Array.from(a))).toBe(true);
      expect(equalBytes(a, b)).toBe(a.join() === b.join());
    }),
  );
  expect(equalBytes(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 131))).toBe(false);
  expect(equalBytes(Uint8Array.of(0), Uint8Array.of(0, 0))).toBe(false);
});
