import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coverageClass, coverageRatio, meteringId, meteringReceiptId, verdictOf } from './derive.ts';

const MAX_UNITS = 10_000_000;

/** backed / billed in millionths, rounded half up, without a float. */
function exactMillionths(backed: number, billed: number): bigint {
  const [numerator, denominator] = [BigInt(backed) * 1_000_000n, BigInt(billed)];
  const quotient = numerator / denominator;
  return 2n * (numerator % denominator) >= denominator ? quotient + 1n : quotient;
}

/** The decimal text of that many millionths. */
function decimal(millionths: bigint): number {
  return Number(`${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`);
}

const counts = fc
  .oneof(
    fc.integer({ min: 1, max: MAX_UNITS }),
    fc.integer({ min: MAX_UNITS - 50, max: MAX_UNITS }),
    fc.integer({ min: 1, max: 50 }),
  )
  .chain((billed) =>
    fc.tuple(
      fc.oneof(fc.integer({ min: 0, max: billed }), fc.constantFrom(0, 1, billed - 1, billed)),
      fc.constant(billed),
    ),
  );

describe('coverageRatio', () => {
  test('is the exact quotient, rounded half up to six places', () => {
    fc.assert(
      fc.property(counts, ([backed, billed]) => {
        expect(coverageRatio(backed, billed)).toBe(decimal(exactMillionths(backed, billed)));
      }),
      { numRuns: 20_000 },
    );
  });

  test('at every quotient that ends in exactly half a millionth', () => {
    // backed / 2,000,000 with an odd numerator, and the same in larger terms.
    for (const factor of [1, 2, 3, 4, 5]) {
      for (let odd = 1; odd < 2_000_000; odd += 7778) {
        const [backed, billed] = [odd * factor, 2_000_000 * factor];
        expect(coverageRatio(backed, billed)).toBe(decimal(exactMillionths(backed, billed)));
        expect(exactMillionths(backed, billed)).toBe(BigInt((odd + 1) / 2));
      }
    }
  });

  test.each([
    [0, 0, 0],
    [0, MAX_UNITS, 0],
    [1, MAX_UNITS, 0],
    [4, MAX_UNITS, 0],
    [5, MAX_UNITS, 0.000001],
    [MAX_UNITS - 1, MAX_UNITS, 1],
    [MAX_UNITS - 6, MAX_UNITS, 0.999999],
    [1, 3, 0.333333],
    [2, 3, 0.666667],
    [1, 2, 0.5],
    [1, 1, 1],
  ])('%i of %i is %d', (backed, billed, ratio) => {
    expect(coverageRatio(backed, billed)).toBe(ratio);
  });
});

describe('coverageClass follows from the unrounded quotient', () => {
  test.each([
    [0, 0, 'not_evidence_backed', 'metered_units_not_evidence_backed'],
    [0, 5, 'not_evidence_backed', 'metered_units_not_evidence_backed'],
    [1, MAX_UNITS, 'minority_evidence_backed', 'metered_units_partially_evidence_backed'],
    [4_999_999, MAX_UNITS, 'minority_evidence_backed', 'metered_units_partially_evidence_backed'],
    [5_000_000, MAX_UNITS, 'majority_evidence_backed', 'metered_units_partially_evidence_backed'],
    [3, 7, 'minority_evidence_backed', 'metered_units_partially_evidence_backed'],
    [4, 7, 'majority_evidence_backed', 'metered_units_partially_evidence_backed'],
    [MAX_UNITS - 1, MAX_UNITS, 'majority_evidence_backed', 'metered_units_partially_evidence_backed'],
    [1, 1, 'fully_evidence_backed', 'metered_units_fully_evidence_backed'],
    [MAX_UNITS, MAX_UNITS, 'fully_evidence_backed', 'metered_units_fully_evidence_backed'],
  ] as const)('%i of %i is %s', (backed, billed, coverage, verdict) => {
    expect(coverageClass(backed, billed)).toBe(coverage);
    expect(verdictOf(coverage)).toBe(verdict);
  });

  test('rounding never promotes: the printed ratio may be 1 or 0.5 where the class is below', () => {
    expect(coverageRatio(MAX_UNITS - 1, MAX_UNITS)).toBe(1);
    expect(coverageClass(MAX_UNITS - 1, MAX_UNITS)).toBe('majority_evidence_backed');
    expect(coverageRatio(4_999_999, 9_999_999)).toBe(0.5);
    expect(coverageClass(4_999_999, 9_999_999)).toBe('minority_evidence_backed');
    expect(coverageRatio(1, MAX_UNITS)).toBe(0);
    expect(coverageClass(1, MAX_UNITS)).toBe('minority_evidence_backed');
  });

  test('more evidence never lowers the class', () => {
    const order = [
      'not_evidence_backed',
      'minority_evidence_backed',
      'majority_evidence_backed',
      'fully_evidence_backed',
    ];
    fc.assert(
      fc.property(counts, fc.nat(), ([backed, billed], more) => {
        const larger = Math.min(billed, backed + more);
        const rank = (count: number) => order.indexOf(coverageClass(count, billed));
        expect(rank(larger)).toBeGreaterThanOrEqual(rank(backed));
      }),
    );
  });
});

describe('identifiers', () => {
  const bill = {
    machine_commitment: 'a'.repeat(64),
    customer_commitment: 'b'.repeat(64),
    service_unit: 'pick',
    window_start: '2026-06-01T09:00:00Z',
    window_end: '2026-06-01T10:00:00Z',
    receipt_set_digest: 'c'.repeat(64),
  };

  test('the same bill has the same id, whatever else is said of it', () => {
    expect(meteringId(bill)).toMatch(/^sm_[0-9a-f]{32}$/);
    expect(meteringId({ ...bill, compiled_at: 'later' } as typeof bill)).toBe(meteringId(bill));
  });

  test.each(Object.keys(bill))('another %s is another bill', (member) => {
    expect(meteringId({ ...bill, [member]: 'else' })).not.toBe(meteringId(bill));
  });

  test('the receipt id holds the seconds and the first 12 hex of the digest', () => {
    expect(meteringReceiptId(1_780_311_600, `0123456789abcdef${'0'.repeat(48)}`)).toBe(
      'r_sls.metering_1780311600_0123456789ab',
    );
  });
});
