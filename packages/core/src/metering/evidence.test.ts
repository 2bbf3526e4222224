import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TallyError } from '../errors.ts';
import { parseLine } from '../json/lines.ts';
import type { JsonValue } from '../json/types.ts';
import { EvidenceTally } from './evidence.ts';

const receipt = (n: number): string => n.toString(16).padStart(64, '0');
const leaf = (unit: number): { unit: number; receipt_sha256: string } => ({
  unit,
  receipt_sha256: receipt(unit),
});

/** RFC 6962, section 2.1, as the definition puts it. */
function rootOf(leaves: readonly string[]): Buffer {
  const hash = (...parts: readonly (Uint8Array | string)[]): Buffer => {
    const digest = createHash('sha256');
    for (const part of parts) digest.update(part);
    return digest.digest();
  };
  if (leaves.length === 0) return hash('');
  if (leaves.length === 1) return hash(Uint8Array.of(0), leaves[0] ?? '');
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return hash(Uint8Array.of(1), rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

function tallyOf(billed: number, leaves: readonly JsonValue[]): EvidenceTally {
  const tally = new EvidenceTally(billed);
  for (const item of leaves) tally.add(item);
  return tally;
}

const refused = (field: string, code = 'invalid_field') => expect.objectContaining({ code, field }) as Error;

describe('EvidenceTally', () => {
  test('counts the units and gives the RFC 6962 root over the leaves’ JCS, in the order supplied', () => {
    const units = fc.uniqueArray(fc.integer({ min: 1, max: 10_000_000 }), { maxLength: 40 });
    fc.assert(
      fc.property(units, (chosen) => {
        const texts = chosen.map((unit) => `{"receipt_sha256":"${receipt(unit)}","unit":${unit}}`);
        const { backed, digest } = tallyOf(10_000_000, chosen.map(leaf)).summary();
        expect(backed).toBe(chosen.length);
        expect(digest).toBe(rootOf(texts).toString('hex'));
      }),
    );
  });

  test('another order is another digest', () => {
    const [forward, backward] = [
      [leaf(1), leaf(2)],
      [leaf(2), leaf(1)],
    ].map((leaves) => tallyOf(2, leaves).summary());
    expect(forward?.digest).not.toBe(backward?.digest);
  });

  test('the order of a leaf’s members does not matter', () => {
    const reordered = { receipt_sha256: receipt(1), unit: 1 };
    expect(tallyOf(1, [reordered]).summary()).toEqual(tallyOf(1, [leaf(1)]).summary());
  });

  test('a unit backs once', () => {
    const leaves = [leaf(1), leaf(2), { unit: 1, receipt_sha256: receipt(9) }];
    expect(() => tallyOf(3, leaves)).toThrow(refused('evidence[2].unit', 'metering_unit_twice'));
  });

  test('a receipt backs once', () => {
    const leaves = [leaf(1), { unit: 2, receipt_sha256: receipt(1) }];
    expect(() => tallyOf(3, leaves)).toThrow(refused('evidence[1].receipt_sha256', 'metering_receipt_twice'));
  });

  test('what is refused leaves no trace', () => {
    const tally = tallyOf(3, [leaf(1)]);
    expect(() => tally.add({ unit: 1, receipt_sha256: receipt(2) })).toThrow(
      refused('evidence[1].unit', 'metering_unit_twice'),
    );
    expect(() => tally.add({ unit: 2, receipt_sha256: receipt(1) })).toThrow(
      refused('evidence[1].receipt_sha256', 'metering_receipt_twice'),
    );
    tally.add(leaf(2));
    expect(tally.summary()).toEqual(tallyOf(3, [leaf(1), leaf(2)]).summary());
  });

  test.each<[string, JsonValue, string]>([
    ['a fraction of a unit', { ...leaf(1), unit: 1.5 }, 'evidence[0].unit'],
    ['a unit in a text', { ...leaf(1), unit: '1' }, 'evidence[0].unit'],
    ['no unit', { receipt_sha256: receipt(1) }, 'evidence[0].unit'],
    ['no receipt', { unit: 1 }, 'evidence[0].receipt_sha256'],
    ['upper-case hex', { unit: 1, receipt_sha256: 'A'.repeat(64) }, 'evidence[0].receipt_sha256'],
    ['short hex', { unit: 1, receipt_sha256: 'a'.repeat(63) }, 'evidence[0].receipt_sha256'],
    ['a prefixed hash', { unit: 1, receipt_sha256: `sha256:${receipt(1)}` }, 'evidence[0].receipt_sha256'],
    ['another member', { ...leaf(1), note: 'x' }, 'evidence[0].note'],
    ['no object', [1, receipt(1)], 'evidence[0]'],
    ['null', null, 'evidence[0]'],
  ])('refuses %s', (_what, item, field) => {
    expect(() => tallyOf(3, [item])).toThrow(refused(field));
  });

  test.each([0, -1, 4, 10_000_001, Number.MAX_SAFE_INTEGER])('refuses unit %d of 3', (unit) => {
    expect(() => tallyOf(3, [{ ...leaf(1), unit }])).toThrow(
      refused('evidence[0].unit', 'metering_unit_range'),
    );
  });

  test('refuses more leaves than units were billed', () => {
    expect(() => tallyOf(2, [leaf(1), leaf(2), leaf(3)])).toThrow(
      refused('evidence[2]', 'metering_unit_range'),
    );
  });

  test('nothing billed, nothing backed', () => {
    const digest = rootOf([]).toString('hex');
    expect(tallyOf(0, []).summary()).toEqual({ billed: 0, backed: 0, digest });
    expect(() => tallyOf(0, [leaf(1)])).toThrow(refused('evidence[0]', 'metering_unit_range'));
  });

  test('hashes with what it is given, and gives the same', () => {
    const lengths = new Set<number>();
    const tally = new EvidenceTally(3, (bytes) => {
      lengths.add(bytes.length);
      return createHash('sha256').update(bytes).digest();
    });
    for (const unit of [1, 2, 3]) tally.add(leaf(unit));
    expect(tally.summary()).toEqual(tallyOf(3, [1, 2, 3].map(leaf)).summary());
    expect([...lengths].sort((a, b) => a - b)).toEqual([65, 95]);
  });
});

describe('a leaf as JSON bytes', () => {
  /** What a tally of 5 that holds unit 1 makes of one more line. */
  function outcome(take: (tally: EvidenceTally, line: Uint8Array) => void, line: Uint8Array): object {
    const tally = tallyOf(5, [leaf(1)]);
    try {
      take(tally, line);
      return tally.summary();
    } catch (error) {
      const { code, field, message } = error as TallyError;
      return { code, field, message, ...tally.summary() };
    }
  }

  const canonical = (unit: string | number, hash = receipt(7)): string =>
    `{"receipt_sha256":"${hash}","unit":${unit}}`;
  const texts = fc.oneof(
    fc.constantFrom(
      ...[
        '2',
        '5',
        '6',
        '0',
        '-0',
        '-1',
        '1',
        '02',
        '2.0',
        '2e0',
        '"2"',
        'null',
        '',
        '9007199254740993',
        '1e999',
      ]
        .concat('10000000', '999999999999999', '1000000000000000')
        .map((unit) => canonical(unit)),
      canonical(2, receipt(1)),
      canonical(2, 'A'.repeat(64)),
      canonical(2, 'a'.repeat(63)),
      canonical(2, `${'a'.repeat(63)}g`),
      canonical(2, `${'a'.repeat(63)}é`),
      `{"unit":2,"receipt_sha256":"${receipt(7)}"}`,
      `{"receipt_sha256":"${receipt(7)}","unit":2,"unit":3}`,
      `{"receipt_sha256":"${receipt(7)}","unit":2,"note":1}`,
      `{"receipt_sha256":"\\u0030${receipt(7).slice(1)}","unit":2}`,
      `${canonical(2)}\r`,
      ` ${canonical(2)}`,
      `\ufeff${canonical(2)}`,
      `${canonical(2)}x`,
      '[]',
    ),
    fc.integer({ min: -2, max: 8 }).map((unit) => canonical(unit)),
  );
  /** The bytes of a line, often with one of them changed, left out or doubled. */
  const lines = fc
    .tuple(texts, fc.constantFrom('keep', 'change', 'drop', 'double'), fc.nat(), fc.nat(255))
    .map(([text, how, position, byte]) => {
      const bytes = [...new TextEncoder().encode(text)];
      const at = position % bytes.length;
      if (how === 'change') bytes[at] = byte;
      if (how === 'drop') bytes.splice(at, 1);
      if (how === 'double') bytes.splice(at, 0, bytes[at] ?? 0);
      return Uint8Array.from(bytes);
    });

  test('is taken and refused as parsing it and adding the value would', () => {
    fc.assert(
      fc.property(lines, (line) => {
        const fast = outcome((tally, bytes) => tally.addJson(bytes, 'line 3'), line);
        const slow = outcome((tally, bytes) => tally.add(parseLine(bytes, 'line 3'), 'line 3'), line);
        expect(fast).toEqual(slow);
      }),
      { numRuns: 5000 },
    );
  });

  test('names its line', () => {
    const tally = tallyOf(5, [leaf(1)]);
    const add = (text: string) => () => tally.addJson(new TextEncoder().encode(text), 'line 700000');
    expect(add('{"unit":')).toThrow(refused('line 700000', 'json_syntax'));
    expect(add('{"unit":1,"unit":1}')).toThrow(refused('line 700000.unit', 'json_duplicate_member'));
    expect(add(canonical(1))).toThrow(refused('line 700000.unit', 'metering_unit_twice'));
    expect(add('{"unit":')).toThrow(/^line 700000: /);
  });
});
