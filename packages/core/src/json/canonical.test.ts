import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { iJson } from '../../test/i-json.ts';
import { haveSharedVectors, jcsPairs, readSharedText } from '../../test/shared-vectors.ts';
import { utf8 } from '../encoding/bytes.ts';
import { canonicalBytes, canonicalize } from './canonical.ts';
import { parseJson } from './parse.ts';
import type { JsonValue } from './types.ts';

describe.skipIf(!haveSharedVectors)('RFC 8785 vectors (need ../shared)', () => {
  test('every input file gives its output file', () => {
    const pairs = jcsPairs();
    expect(pairs).toHaveLength(6);
    for (const { input, output } of pairs) {
      expect(canonicalize(parseJson(utf8(input)))).toBe(output);
    }
  });

  test('10,000 numbers', () => {
    const lines = readSharedText('jcs/numbers-10000.txt').trim().split('\n');
    expect(lines).toHaveLength(10_000);
    const view = new DataView(new ArrayBuffer(8));
    for (const line of lines) {
      const [bits = '', expected] = line.split(',');
      view.setBigUint64(0, BigInt(`0x${bits}`));
      expect(canonicalize(view.getFloat64(0))).toBe(expected);
    }
  });
});

describe('canonicalize', () => {
  test.each<[JsonValue, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ '\ud83d\ude02': 1, '\ufb33': 2 }, '{"\ud83d\ude02":1,"\ufb33":2}'],
    [{ 10: 1, 9: 2, '': 3 }, '{"":3,"10":1,"9":2}'],
    ['\u0000\u001f\u007f\u2028"\\/\b\t\n\f\r', '"\\u0000\\u001f\u007f\u2028\\"\\\\/\\b\\t\\n\\f\\r"'],
    [-0, '0'],
    [1e21, '1e+21'],
    [Object.assign(Object.create(null) as object, { a: 1 }) as JsonValue, '{"a":1}'],
  ])('%j', (value, expected) => {
    expect(canonicalize(value)).toBe(expected);
  });

  test('is a fixed point and equal to the value', () => {
    fc.assert(
      fc.property(iJson, (value) => {
        const text = canonicalize(value);
        const parsed = JSON.parse(text) as JsonValue;
        expect(canonicalize(parsed)).toBe(text);
        expect(parsed).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('is the same for any order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), iJson, { noNullPrototype: true }), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse());
        expect(canonicalize(reversed)).toBe(canonicalize(object));
      }),
    );
  });

  test('canonicalBytes is its UTF-8', () => {
    expect(canonicalBytes('é')).toEqual(Uint8Array.of(0x22, 0xc3, 0xa9, 0x22));
  });

  test.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['Infinity', Number.NEGATIVE_INFINITY],
    ['a Date, which has toJSON', new Date(0)],
    ['an object with a toJSON method', { toJSON: () => 'x' }],
    ['a Map', new Map()],
    ['bytes', Uint8Array.of(1)],
    ['a boxed string', Object('x')],
    ['an array with a hole', Array(1)],
    ['an array subclass', new (class extends Array {})()],
  ])('refuses %s, also as a member', (_, value) => {
    const expected = expect.objectContaining({ code: 'json_not_plain' });
    expect(() => canonicalize(value as JsonValue)).toThrow(expected);
    expect(() => canonicalize({ a: [value as JsonValue] })).toThrow(expected);
  });

  test.each([['\ud800'], [{ '\udc00': 1 }], [['a\udc00\ud800']]])(
    'refuses the lone surrogate in %j',
    (value) => {
      expect(() => canonicalize(value as JsonValue)).toThrow(
        expect.objectContaining({ code: 'json_lone_surrogate' }),
      );
    },
  );

  test('ends at a cycle', () => {
    const cycle: JsonValue[] = [];
    cycle.push({ cycle });
    expect(() => canonicalize(cycle)).toThrow(expect.objectContaining({ code: 'json_depth' }));
  });
});
