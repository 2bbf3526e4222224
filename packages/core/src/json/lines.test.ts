import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineReader, parseLine } from './lines.ts';

const LIMIT = 700;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The lines with their numbers that a body gives when it comes in chunks cut at these places. */
function read(body: Uint8Array, cuts: readonly number[] = [], limit = LIMIT): [string, number][] {
  const lines: [string, number][] = [];
  const reader = new LineReader(
    (line, number) => lines.push([new TextDecoder().decode(line), number]),
    () => limit,
  );
  let start = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    reader.push(body.subarray(start, cut));
    start = cut;
  }
  reader.push(body.subarray(start));
  reader.end();
  return lines;
}

const refused = (code: string, field: string) => expect.objectContaining({ code, field }) as Error;

describe('LineReader', () => {
  test('gives the same lines however the bytes are cut, with a last line feed or without', () => {
    const texts = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'é', '☃', '\r', ' '), minLength: 2, maxLength: 200 }),
      {
        minLength: 1,
      },
    );
    const cuts = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(texts, cuts, fc.boolean(), (list, places, closed) => {
        const body = bytes(list.join('\n') + (closed ? '\n' : ''));
        const at = places.map((place) => place % (body.length + 1));
        expect(read(body, at)).toEqual(list.map((text, index) => [text, index + 1]));
      }),
    );
  });

  test('gives every line alone when each byte comes alone', () => {
    const body = bytes('one\ntwo\nthree');
    expect(read(body, [...body.keys()])).toEqual([
      ['one', 1],
      ['two', 2],
      ['three', 3],
    ]);
  });

  test.each(['', '\n', '\r\n', '\n\n\r\n'])('takes %j for no line at all', (text) => {
    expect(read(bytes(text))).toEqual([]);
  });

  test.each(['a\n', 'a\n\n', 'a\n\r\n\n'])('lets %j end in blank lines', (text) => {
    expect(read(bytes(text))).toEqual([['a', 1]]);
  });

  test.each([
    ['a\n\nb', 'line 2'],
    ['\na', 'line 1'],
    ['a\n\r\n\nb\n', 'line 2'],
  ])('refuses a blank line between others: %j', (text, field) => {
    expect(() => read(bytes(text))).toThrow(refused('json_empty', field));
  });

  test('takes a line of the largest size and refuses one more byte, ended or not, in one chunk or many', () => {
    const line = 'x'.repeat(LIMIT);
    for (const cuts of [[], [1], [LIMIT], [300, 600, 650]]) {
      expect(read(bytes(`a\n${line}\nb`), cuts)).toHaveLength(3);
      expect(() => read(bytes(`a\n${line}x\nb`), cuts)).toThrow(refused('body_too_large', 'line 2'));
      expect(() => read(bytes(`a\n${line}x`), cuts)).toThrow(refused('body_too_large', 'line 2'));
    }
  });

  test('refuses an endless line as soon as it is too long', () => {
    const reader = new LineReader(
      () => {},
      () => LIMIT,
    );
    reader.push(new Uint8Array(LIMIT).fill(0x61));
    expect(() => reader.push(Uint8Array.of(0x61))).toThrow(refused('body_too_large', 'line 1'));
  });
});

describe('parseLine', () => {
  test.each([
    ['{"a":', 'json_syntax', 'line 9'],
    ['', 'json_empty', 'line 9'],
    ['\ufeff{}', 'json_bom', 'line 9'],
    ['{"a":{"b":1,"b":1}}', 'json_duplicate_member', 'line 9.a.b'],
    ['[1e400]', 'json_number_range', 'line 9[0]'],
  ])('names the line of %j', (text, code, field) => {
    expect(() => parseLine(bytes(text), 'line 9')).toThrow(refused(code, field));
  });

  test('is parseJson for what is sound', () => {
    expect(parseLine(bytes('{"a":[1]}'), 'line 1')).toEqual({ a: [1] });
  });
});
