import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBase64url, toBase64url } from './base64url.ts';

test('spells any bytes as Node does, and back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(toBase64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      expect(fromBase64url(toBase64url(bytes), bytes.length)).toEqual(bytes);
    }),
  );
});

function isAccepted(text: string): boolean {
  try {
    fromBase64url(text);
    return true;
  } catch {
    return false;
  }
}

test('accepts only what it would write itself', () => {
  const nearBase64url = fc.string({
    unit: fc.constantFrom('A', 'B', '_', '-', '=', '+', 'é', ' '),
    maxLength: 8,
  });
  fc.assert(
    fc.property(nearBase64url, (text) => {
      const isCanonical = Buffer.from(text, 'base64url').toString('base64url') === text;
      expect(isAccepted(text)).toBe(isCanonical);
    }),
  );
});

test.each([
  ['A', undefined],
  ['AAAAA', undefined],
  ['AA==', undefined],
  ['AB', undefined],
  ['AAB', undefined],
  ['A+', undefined],
  ['A/', undefined],
  ['AAA\n', undefined],
  ['AAAA', 2],
  ['AAAA', 4],
])('refuses %j of %s bytes', (text, length) => {
  expect(() => fromBase64url(text, length)).toThrow(expect.objectContaining({ code: 'invalid_base64url' }));
});
