import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromBase58, toBase58 } from './base58.ts';
import { fromHex, toHex } from './hex.ts';
import { fromMultibase, toMultibase } from './multibase.ts';

describe('base58', () => {
  // draft-msporny-base58, section 5, and Bitcoin's own base58 tests.
  test.each([
    ['', ''],
    ['00', '1'],
    ['0000287fb4cd', '11233QC4'],
    ['48656c6c6f20576f726c6421', '2NEpo7TZRRrLZSi2U'],
    ['00eb15231dfceb60925886b67d065299925915aeb172c06647', '1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L'],
  ])('%s is %s', (hex, text) => {
    expect(toBase58(fromHex(hex))).toBe(text);
    expect(toHex(fromBase58(text))).toBe(hex);
  });

  test('multibase is its own inverse', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), (bytes) => {
        expect(fromMultibase(toMultibase(bytes))).toEqual(bytes);
      }),
    );
  });
});

describe('fromMultibase', () => {
  test.each([
    '',
    '1',
    'm' + 'A'.repeat(4),
    'Z11',
    'z0',
    'zO',
    'zI',
    'zl',
    'z1 ',
    'zé',
    `z${'1'.repeat(129)}`,
  ])('refuses %j', (text) => {
    expect(() => fromMultibase(text)).toThrow(expect.objectContaining({ code: 'invalid_multibase' }));
  });
});
