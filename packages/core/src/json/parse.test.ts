import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { iJson } from '../../test/i-json.ts';
import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { canonicalBytes, canonicalize } from './canonical.ts';
import { parseJson } from './parse.ts';

const parse = (text: string) => parseJson(utf8(text));
/** Whether reading gave a value, or an error that is not about the grammar. */
function isGrammatical(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    return error instanceof TallyError && error.code !== 'json_syntax' && error.code !== 'json_empty';
  }
}

const fault = (code: string, field?: string) => expect.objectContaining({ code, field });

describe('what parseJson accepts', () => {
  test.each([
    'null',
    ' \t\r\n true ',
    '-0',
    '0.5e-7',
    '[1E+2,1e2,-1.25]',
    '{"a":{"b":[]},"c":[{}]}',
    '"\\u00e9\\ud83d\\ude02\\"\\\\\\/\\b\\f\\n\\r\\t"',
    '"é😂\u007f\ufeff"',
    '{"":0,"a b":1}',
    '9007199254740991',
    '-9007199254740991',
    '333333333.33333329',
  ])('%s, as JSON.parse reads it', (text) => {
    expect(parse(text)).toStrictEqual(JSON.parse(text));
  });

  test.each(['1E30', '1e21', '-1.5e300', '1e-400'])('%s, a double past integer text', (text) => {
    expect(parse(text)).toBe(Number(text));
  });

  test('any I-JSON value, spaced or not', () => {
    fc.assert(
      fc.property(iJson, fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parse(text)).toStrictEqual(JSON.parse(text));
        expect(canonicalize(parseJson(canonicalBytes(value)))).toBe(canonicalize(value));
      }),
    );
  });

  test('a member named __proto__ is own and changes no prototype', () => {
    const value = parse('{"__proto__":{"polluted":true},"constructor":1}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('what parseJson refuses', () => {
  test.each(['', ' ', '\n\t\r '])('%j as empty', (text) => {
    expect(() => parse(text)).toThrow(fault('json_empty'));
  });

  test.each([
    ['01', 1],
    ['-', 1],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['1e', 2],
    ['1e+', 3],
    ['0x10', 1],
    ['NaN', 0],
    ['-Infinity', 1],
    ['nul', 0],
    ['True', 0],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[,1]', 1],
    ['{"a":1,}', 7],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1', 6],
    ['[', 1],
    ['{', 1],
    ['1 1', 2],
    ['// c', 0],
    ['"a', 2],
    ['"\\x"', 1],
    ['"\\u12g4"', 1],
    ['"\\u12', 1],
    ['"a\u0000"', 2],
    ['"a\\n\nb"', 4],
    ['\u00a0 1', 0],
    ['\u000c1', 0],
  ])('%j as syntax at offset %i', (text, offset) => {
    const message = expect.stringMatching(new RegExp(`at offset ${offset}\\.$`));
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'json_syntax', message }));
  });

  test('near-JSON text exactly when JSON.parse refuses it', () => {
    const nearJson = fc.array(fc.constantFrom(...Array.from('{}[],:"\\u0019-+.eE tnrfalsu\n')), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(nearJson, (characters) => {
        const text = characters.join('');
        // An exponent of two digits may be refused for its size before what follows it is read.
        fc.pre(!/[eE][+-]?\d{2}/.test(text));
        expect(isGrammatical(() => parse(text))).toBe(isGrammatical(() => JSON.parse(text)));
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['bare continuation byte', [0x22, 0x80, 0x22]],
    ['overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['past U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['cut short', [0x22, 0xe2, 0x82]],
    ['UTF-16', [0xff, 0xfe, 0x31, 0x00]],
  ])('%s as not UTF-8', (_, bytes) => {
    expect(() => parseJson(Uint8Array.from(bytes))).toThrow(fault('json_not_utf8'));
  });

  test('a byte order mark', () => {
    const marked = concatBytes(Uint8Array.of(0xef, 0xbb, 0xbf), utf8('{}'));
    expect(() => parseJson(marked)).toThrow(fault('json_bom'));
  });

  test.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":[0,{"é":null,"b":0,"\\u00e9":1}]}', 'x[1]["é"]'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"toString":1,"toString":2}', 'toString'],
    ['{"1":1,"1":2}', '["1"]'],
    ['{"":1,"":2}', '[""]'],
  ])('%s as a duplicate member', (text, field) => {
    expect(() => parse(text)).toThrow(fault('json_duplicate_member', field));
  });

  test.each([
    ['{"a":["\\ud800"]}', 'a[0]'],
    ['{"a":"\\udc00\\ud800"}', 'a'],
    ['{"a":"\\ud83dx"}', 'a'],
    ['{"a":{"\\udead":1}}', 'a'],
    ['{"a":{"b":1,"\\udead":1}}', 'a'],
  ])('%s as a lone surrogate', (text, field) => {
    expect(() => parse(text)).toThrow(fault('json_lone_surrogate', field));
  });

  test.each([0xfdd0, 0xfdef, 0xfffe, 0xffff, 0x1fffe, 0x8ffff, 0x10ffff])(
    'noncharacter %i, raw or escaped, in strings and names',
    (codePoint) => {
      const raw = String.fromCodePoint(codePoint);
      const escaped = raw.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
      for (const spelled of [raw, escaped]) {
        expect(() => parse(`{"a":[0,"x${spelled}"]}`)).toThrow(fault('json_noncharacter', 'a[1]'));
        expect(() => parse(`{"${spelled}":0}`)).toThrow(fault('json_noncharacter'));
      }
    },
  );

  test.each([0xfdcf, 0xfdf0, 0xfffd, 0x1fffd, 0x20000])('but not the character %i', (codePoint) => {
    expect(parse(`"${String.fromCodePoint(codePoint)}"`)).toBe(String.fromCodePoint(codePoint));
  });

  test.each([
    ['1e400', 'json_number_range'],
    ['-1.0e309', 'json_number_range'],
    ['9007199254740992', 'json_integer_range'],
    ['-9007199254740992', 'json_integer_range'],
    ['9007199254740993', 'json_integer_range'],
    ['1000000000000000000000000', 'json_integer_range'],
    ['9007199254740992.0', 'json_integer_range'],
    ['1e20', 'json_integer_range'],
    ['9'.repeat(400), 'json_integer_range'],
  ])('number %s as %s', (text, code) => {
    expect(() => parse(`{"n":[${text}]}`)).toThrow(fault(code, 'n[0]'));
  });

  test('depth 65, and a megabyte of brackets', () => {
    const nested = (depth: number) => '[{"a":'.repeat(depth / 2) + '0' + '}]'.repeat(depth / 2);
    expect(parse(nested(64))).toBeDefined();
    expect(() => parse(`[${nested(64)}]`)).toThrow(expect.objectContaining({ code: 'json_depth' }));
    expect(() => parse('['.repeat(1 << 20))).toThrow(expect.objectContaining({ code: 'json_depth' }));
    expect(() => parseJson(utf8('[[[]]]'), { maxDepth: 2 })).toThrow(fault('json_depth', '[0][0]'));
    expect(parseJson(utf8('[[]]'), { maxDepth: 2 })).toEqual([[]]);
  });
});
