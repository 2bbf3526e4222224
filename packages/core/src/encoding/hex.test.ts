import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, toHex } from './hex.ts';

test('spells any bytes as Node does, and back', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
      expect(fromHex(toHex(bytes), bytes.length)).toEqual(bytes);
    }),
  );
});

test.each([
  ['0', undefined],
  ['0A', undefined],
  ['g0', undefined],
  ['0g', undefined],
  ['0 ', undefined],
  ['0x', undefined],
  ['éé', undefined],
  ['00', 2],
  ['0000', 1],
])('refuses %j of %s bytes', (text, length) => {
  expect(() => fromHex(text, length)).toThrow(expect.objectContaining({ code: 'invalid_hex' }));
});
