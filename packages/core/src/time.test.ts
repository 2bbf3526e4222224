import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareInstants, formatTimestamp, parseTimestamp, secondsOf } from './time.ts';

const first = Date.UTC(1970, 0, 1);
const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const instant = fc.integer({ min: first, max: last });

describe('against the calendar of Date', () => {
  test('any instant of the years 1970 to 9999 is written as Date writes it', () => {
    fc.assert(
      fc.property(instant, (ms) => {
        expect(formatTimestamp(ms)).toBe(new Date(ms).toISOString().replace('.000Z', 'Z'));
      }),
      { numRuns: 2000 },
    );
  });

  test('and read as Date reads it', () => {
    fc.assert(
      fc.property(instant, (ms) => {
        const expected = { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1_000_000 };
        expect(parseTimestamp(new Date(ms).toISOString())).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('every day of four centuries, with its leap days', () => {
    for (let ms = Date.UTC(1999, 11, 31); ms <= Date.UTC(2400, 2, 2); ms += 86_400_000) {
      const text = formatTimestamp(ms);
      expect(text).toBe(new Date(ms).toISOString().replace('.000Z', 'Z'));
      expect(secondsOf(text)).toBe(ms / 1000);
    }
  });

  test('years before 1970 too', () => {
    for (const text of ['0000-01-01T00:00:00Z', '0000-02-29T12:00:00Z', '1969-12-31T23:59:59Z']) {
      expect(secondsOf(text)).toBe(Date.parse(text) / 1000);
      expect(formatTimestamp(Date.parse(text))).toBe(text);
    }
  });

  test('29 February is read in exactly the leap years', () => {
    for (let year = 0; year <= 9999; year++) {
      // The calendar repeats every 400 years.
      const leap = new Date(Date.UTC(2000 + (year % 400), 1, 29)).getUTCDate() === 29;
      const read = parseTimestamp(`${String(year).padStart(4, '0')}-02-29T00:00:00Z`) !== null;
      expect({ year, read }).toEqual({ year, read: leap });
    }
  });
});

describe('fractions', () => {
  test('one to nine digits are nanoseconds', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,9}$/), (digits) => {
        const nanos = Number(digits) * 10 ** (9 - digits.length);
        expect(parseTimestamp(`1970-01-01T00:00:01.${digits}Z`)).toEqual({ seconds: 1, nanos });
      }),
    );
  });

  test('part of a millisecond is cut off in writing', () => {
    expect(formatTimestamp(1.9)).toBe('1970-01-01T00:00:00.001Z');
  });
});

test.each([
  ['', 'nothing'],
  ['2026-06-01', 'no time'],
  ['2026-06-01T11:00:00', 'no zone'],
  ['2026-06-01T11:00:00+00:00', 'an offset'],
  ['2026-06-01T11:00:00z', 'a small z'],
  ['2026-06-01t11:00:00Z', 'a small t'],
  ['2026-06-01 11:00:00Z', 'a space'],
  ['2026-06-01T11:00Z', 'no seconds'],
  ['2026-06-01T11:00:00.Z', 'an empty fraction'],
  ['2026-06-01T11:00:00,5Z', 'a comma'],
  ['2026-06-01T11:00:00.1234567890Z', 'ten digits'],
  ['2026-6-1T11:00:00Z', 'short numbers'],
  ['12026-06-01T11:00:00Z', 'a year of five digits'],
  ['-026-06-01T11:00:00Z', 'a negative year'],
  [' 2026-06-01T11:00:00Z', 'white space before'],
  ['2026-06-01T11:00:00Z\n', 'a newline after'],
  ['２０２６-06-01T11:00:00Z', 'digits of another script'],
  ['2026-00-01T11:00:00Z', 'month 0'],
  ['2026-13-01T11:00:00Z', 'month 13'],
  ['2026-06-00T11:00:00Z', 'day 0'],
  ['2026-06-31T11:00:00Z', '31 June'],
  ['2026-01-32T11:00:00Z', '32 January'],
  ['2026-02-29T11:00:00Z', '29 February of a common year'],
  ['1900-02-29T11:00:00Z', '29 February 1900'],
  ['2026-06-01T24:00:00Z', 'hour 24'],
  ['2026-06-01T11:60:00Z', 'minute 60'],
  ['2016-12-31T23:59:60Z', 'a leap second'],
])('%j is refused: %s', (text) => {
  expect(parseTimestamp(text)).toBeNull();
  expect(() => secondsOf(text)).toThrow(RangeError);
});

test('compareInstants orders as the instants do, to the nanosecond', () => {
  const texts = ['1999-12-31T23:59:59.999999999Z', '2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000000001Z'];
  const instants = texts.map((text) => parseTimestamp(text)!);
  for (const [i, a] of instants.entries()) {
    for (const [j, b] of instants.entries()) expect(Math.sign(compareInstants(a, b))).toBe(Math.sign(i - j));
  }
  expect(
    compareInstants(parseTimestamp('2000-01-01T00:00:00Z')!, parseTimestamp('2000-01-01T00:00:00.0Z')!),
  ).toBe(0);
});
