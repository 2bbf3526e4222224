import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { iJson } from '../../test/i-json.ts';
import { copyJson } from './copy.ts';

const fault = (code: string, field?: string) => expect.objectContaining({ code, field });

describe('copyJson', () => {
  test('copies any I-JSON value and shares nothing with it', () => {
    fc.assert(
      fc.property(iJson, (value) => {
        const original = { value: [value] };
        const copy = copyJson(original) as typeof original;
        expect(copy).toEqual(original);
        expect(copy).not.toBe(original);
        expect(copy.value).not.toBe(original.value);
      }),
    );
  });

  test('reads every member once', () => {
    let reads = 0;
    const hostile = {
      get amount() {
        reads += 1;
        return reads;
      },
    };
    expect(copyJson([hostile])).toEqual([{ amount: 1 }]);
    expect(reads).toBe(1);
  });

  test('keeps an own __proto__ an own member', () => {
    const copy = copyJson(JSON.parse('{"__proto__":{"a":1}}')) as object;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(Object.keys(copy)).toEqual(['__proto__']);
  });

  test('names what cannot be read and keeps the cause inside', () => {
    const cause = new Error('no');
    const hostile = {
      get secret(): never {
        throw cause;
      },
    };
    expect(() => copyJson({ a: hostile })).toThrow(
      expect.objectContaining({ code: 'json_not_plain', field: 'a.secret', cause }),
    );
  });

  test.each([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['a Date', new Date(0)],
    [
      'a class instance',
      new (class Point {
        x = 1;
      })(),
    ],
    ['an inherited object', Object.create({ a: 1 })],
    ['a member named by a symbol', { [Symbol('s')]: 1 }],
    ['an array with a hole', Array(1)],
    ['an array with a member', Object.assign([1], { extra: 1 })],
    ['an array subclass', new (class extends Array {})()],
  ])('refuses %s', (_, value) => {
    expect(() => copyJson({ a: [value] })).toThrow(fault('json_not_plain', 'a[0]'));
  });

  test.each([
    ['\ud800', 'json_lone_surrogate'],
    ['\ufffe', 'json_noncharacter'],
    [2 ** 53, 'json_integer_range'],
    [-1e20, 'json_integer_range'],
    [Number.NaN, 'json_number_range'],
    [Number.POSITIVE_INFINITY, 'json_number_range'],
  ])('holds %j to the rules of the parser', (value, code) => {
    expect(() => copyJson({ a: value })).toThrow(fault(code, 'a'));
  });

  test.each(['\ud800', '\uffff'])('holds names to them too', (name) => {
    expect(() => copyJson({ a: { [name]: 1 } })).toThrow(expect.objectContaining({ field: 'a' }));
  });

  test('accepts 2^53-1 and 1e21', () => {
    expect(copyJson([2 ** 53 - 1, 1e21])).toEqual([2 ** 53 - 1, 1e21]);
  });

  test('accepts depth 64, refuses 65 and a cycle', () => {
    const nest = (depth: number): unknown => (depth === 0 ? 0 : [nest(depth - 1)]);
    expect(copyJson(nest(64))).toEqual(nest(64));
    expect(() => copyJson(nest(65))).toThrow(expect.objectContaining({ code: 'json_depth' }));
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(() => copyJson(cycle)).toThrow(expect.objectContaining({ code: 'json_depth' }));
  });
});
