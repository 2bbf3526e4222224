import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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

const refused = (field: string) => expect.objectContaining({ code: 'invalid_field', field }) as Error;

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
    expect(() => tallyOf(3, leaves)).toThrow(refused('evidence[2].unit'));
  });

  test('a receipt backs once', () => {
    const leaves = [leaf(1), { unit: 2, receipt_sha256: receipt(1) }];
    expect(() => tallyOf(3, leaves)).toThrow(refused('evidence[1].receipt_sha256'));
  });

  test('what is refused leaves no trace', () => {
    const tally = tallyOf(3, [leaf(1)]);
    expect(() => tally.add({ unit: 1, receipt_sha256: receipt(2) })).toThrow(refused('evidence[1].unit'));
    expect(() => tally.add({ unit: 2, receipt_sha256: receipt(1) })).toThrow(
      refused('evidence[1].receipt_sha256'),
    );
    tally.add(leaf(2));
    expect(tally.summary()).toEqual(tallyOf(3, [leaf(1), leaf(2)]).summary());
  });

  test.each<[string, JsonValue, string]>([
    ['unit 0', { ...leaf(1), unit: 0 }, 'evidence[0].unit'],
    ['a unit that was not billed', { ...leaf(1), unit: 4 }, 'evidence[0].unit'],
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

  test('nothing billed, nothing backed', () => {
    expect(tallyOf(0, []).summary()).toEqual({ backed: 0, digest: rootOf([]).toString('hex') });
    expect(() => tallyOf(0, [leaf(1)])).toThrow(refused('evidence[0].unit'));
  });
});
