import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortMoney, sumMoney } from './money.ts';

test.each([
  ['0', '$0.00'],
  ['0.000000000', '$0.00'],
  ['0.000000001', '$0.000000001'],
  ['0.068207150', '$0.06821'],
  ['0.00136', '$0.00136'],
  ['0.5', '$0.50'],
  ['0.99996', '$1.00'],
  ['1.005', '$1.005'],
  ['3.74799', '$3.748'],
  ['12.345', '$12.35'],
  ['999.995', '$1,000.00'],
  ['1234567.891', '$1,234,567.89'],
  ['-0.0123456', '−$0.01235'],
  ['0012.5', '$12.50'],
])('shows %s as %s', (exact, shown) => {
  expect(shortMoney(exact)).toBe(shown);
});

test.each([
  ['249.99866', '$249.99'],
  ['0.999999', '$0.9999'],
  ['250', '$250.00'],
  ['0.000000001', '$0.000000001'],
  ['-0.00000100001', '−$0.000001001'],
])('shows %s that is there as %s', (exact, shown) => {
  expect(shortMoney(exact, 'down')).toBe(shown);
});

const nano = fc.bigInt({ min: 0n, max: 10n ** 18n });
const usdc = (amount: bigint): string => {
  const digits = String(amount).padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
};

test('is within half a unit of the fourth digit, or of a cent, and zero for zero alone', () => {
  fc.assert(
    fc.property(nano, (amount) => {
      const shown = shortMoney(usdc(amount)).replace(/[$,]/g, '');
      const read = BigInt(shown.replace(/\.(\d*)$/, (_, part: string) => part.padEnd(9, '0')));
      const apart = read > amount ? read - amount : amount - read;
      const unit =
        amount >= 10_000_000_000n ? 10_000_000n : 10n ** BigInt(Math.max(String(amount).length - 4, 0));
      expect(apart * 2n <= unit && (read === 0n) === (amount === 0n), `${usdc(amount)} as ${shown}`).toBe(
        true,
      );
    }),
  );
});

test('sums exactly', () => {
  fc.assert(
    fc.property(fc.array(nano, { maxLength: 20 }), (amounts) => {
      expect(sumMoney(amounts.map(usdc))).toBe(usdc(amounts.reduce((sum, amount) => sum + amount, 0n)));
    }),
  );
});
