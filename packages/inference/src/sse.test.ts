import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseError, type SseEvent, SseParser } from './sse.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(...parts: Uint8Array[]): SseEvent[] {
  const parser = new SseParser(10_000);
  return parts.flatMap((part) => parser.push(part));
}

const data = (text: string): SseEvent => ({ event: 'message', data: text });

describe('SseParser', () => {
  it.each<[string, string, SseEvent[]]>([
    ['one event', 'data: {"a":1}\n\n', [data('{"a":1}')]],
    ['CRLF and CR as line ends', 'data: a\r\n\r\ndata: b\r\rdata: c\n\n', [data('a'), data('b'), data('c')]],
    ['lines of data joined', 'data: a\ndata: b\n\n', [data('a\nb')]],
    [
      'a named event, whose name holds for it alone',
      'event: ping\ndata: x\n\ndata: y\n\n',
      [{ event: 'ping', data: 'x' }, data('y')],
    ],
    ['comments and fields of no interest', ': hello\nid: 4\nretry: 10\ndata: a\n\n', [data('a')]],
    ['one space after the colon, no more', 'data:a\n\ndata:  b\n\n', [data('a'), data(' b')]],
    ['a field without a colon', 'data\n\n', [data('')]],
    ['an event without data', 'event: ping\n\ndata: a\n\n', [data('a')]],
    ['a byte order mark at the start', '\u{feff}data: a\n\n', [data('a')]],
    ['no field behind a byte order mark in the middle', 'data: a\n\u{feff}data: b\n\n', [data('a')]],
    ['an event that is not finished', 'data: a\n\ndata: b\n', [data('a')]],
  ])('reads %s', (_, text, events) => {
    expect(read(encode(text))).toStrictEqual(events);
  });

  it.each([
    ['a carriage return that ends an event', 'data\n\r', 'data: x', [data('')]],
    ['the two halves of an end of a line', 'data: a\r', '\ndata: b\r\n\r\n', [data('a\nb')]],
    ['the two halves of a blank line', 'data: a\r\n\r', '\ndata: b\n\n', [data('a'), data('b')]],
  ])('reads what is split at %s', (_, first, second, events) => {
    expect(read(encode(first), encode(second))).toStrictEqual(events);
  });

  it('reads the same events however the bytes are split', () => {
    const piece = fc.constantFrom(
      'data: ',
      'data',
      'event: x',
      ':',
      '\n',
      '\n\n',
      '\r',
      '\r\n',
      '\r\n\r\n',
      'ü🌍',
      'a ',
    );
    const streams = fc.array(piece, { maxLength: 30 }).map((pieces) => encode(pieces.join('')));
    const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 20 });
    fc.assert(
      fc.property(streams, cuts, (bytes, at) => {
        const ends = [...at.filter((end) => end < bytes.length).sort((a, b) => a - b), bytes.length];
        const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(read(...parts)).toStrictEqual(read(bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives back what was written', () => {
    const texts = fc.json();
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 8 }), (payloads) => {
        const stream = payloads.map((payload) => `data: ${payload}\n\n`).join('');
        expect(read(encode(stream))).toStrictEqual(payloads.map(data));
      }),
    );
  });

  it('refuses bytes that are not UTF-8, and an event that never ends', () => {
    expect(() => read(Uint8Array.of(0x64, 0xff))).toThrow(SseError);
    expect(() => read(encode('data: '), encode('x'.repeat(10_000)))).toThrow(SseError);
    expect(() => read(...Array.from({ length: 2_000 }, () => encode('data: 12345\n')))).toThrow(SseError);
  });
});
