import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boughtWith, monthsAfter, priceOf } from './prices.ts';

const PRICES = { pro: 29_000_000_000n, scale: 249_000_000_000n };
const at = (text: string): number => Date.parse(text) / 1000;

describe('a price', () => {
  it('of a year is that of ten months', () => {
    expect(priceOf(PRICES, 'pro', 1)).toBe(29_000_000_000n);
    expect(priceOf(PRICES, 'scale', 12)).toBe(2_490_000_000_000n);
  });

  it('and what is left of an amount make up the amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 13n }), (amount) => {
        const bought = boughtWith(PRICES, 'pro', amount);
        expect(bought === null).toBe(amount < PRICES.pro);
        if (bought === null) return;
        expect(priceOf(PRICES, 'pro', bought.months) + bought.excess).toBe(amount);
        expect(bought.excess >= 0n).toBe(true);
        expect(bought.months).toBe(amount >= PRICES.pro * 10n ? 12 : 1);
      }),
    );
  });
});

describe('months later', () => {
  it.each([
    ['2027-01-15T10:00:00Z', 1, '2027-02-15T10:00:00Z'],
    ['2027-01-31T10:00:00Z', 1, '2027-02-28T10:00:00Z'],
    ['2028-01-31T10:00:00Z', 1, '2028-02-29T10:00:00Z'],
    ['2028-02-29T10:00:00Z', 12, '2029-02-28T10:00:00Z'],
    ['2027-12-31T23:59:59Z', 1, '2028-01-31T23:59:59Z'],
    ['2027-08-31T00:00:00Z', 12, '2028-08-31T00:00:00Z'],
  ])('%s and %s', (from, months, to) => {
    expect(monthsAfter(at(from), months)).toBe(at(to));
  });
});
