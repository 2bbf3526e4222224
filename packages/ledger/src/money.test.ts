import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { formatUsdc, parseUsdc } from './money.ts';

describe('amounts in USDC', () => {
  test.each([
    ['0', 0n],
    ['12.5', 12_500_000_000n],
    ['0.000000001', 1n],
    ['3', 3_000_000_000n],
    ['1000000000', 10n ** 18n],
  ])('%s', (text, nano) => {
    expect(parseUsdc(text)).toBe(nano);
    expect(formatUsdc(nano)).toBe(text);
    expect(formatUsdc(-nano)).toBe(nano === 0n ? '0' : `-${text}`);
  });

  test.each([
    '',
    '-1',
    '+1',
    '1.',
    '.5',
    '01',
    '1e3',
    '1,5',
    '0.0000000001',
    '1000000000.000000001',
    ' 1',
    '１',
  ])('refuses %j', (text) => {
    expect(() => parseUsdc(text)).toThrow(
      expect.objectContaining({ code: 'invalid_field', field: 'amount' }),
    );
  });

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (nano) => {
        expect(parseUsdc(formatUsdc(nano))).toBe(nano);
      }),
    );
  });
});
