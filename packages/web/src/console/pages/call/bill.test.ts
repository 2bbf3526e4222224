import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { billingDocument } from '../../../../../inference/src/billing.ts';
import { priceCall } from '../../../../../inference/src/token-prices.ts';
import { billOf, exact } from './bill.ts';
import type { Billing } from './documents.ts';

const tokens = fc.integer({ min: 0, max: 200_000 });
const price = fc.bigInt({ min: 0n, max: 90_000_000_000n });

test('the lines of any bill of the service add up to what was charged, and say so exactly', () => {
  fc.assert(
    fc.property(
      tokens,
      tokens,
      tokens,
      price,
      price,
      price,
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.bigInt({ min: 0n, max: 999_999n }),
      fc.boolean(),
      (prompt, cached, completion, input, output, cache, gross, dust, member) => {
        const prices = {
          inputPerMTok: input,
          outputPerMTok: output,
          cacheReadPerMTok: cache,
          cacheWritePerMTok: input,
        };
        const usage = {
          promptTokens: prompt,
          completionTokens: completion,
          cachedTokens: Math.min(cached, prompt),
          estimated: false,
        };
        const rounds = [usage];
        const sharePercent = member ? 60 : 40;
        const bill = priceCall({
          price: prices,
          rounds,
          gross,
          lost: 0n,
          sharePercent,
          member: member ? 'did:web:a.example' : null,
          dust,
        });
        const billing = billingDocument({
          bill,
          usage,
          rounds,
          price: prices,
          account: 'balance',
          reserved: bill.charge,
          tier: member ? 'member' : 'unregistered',
          sharePercent,
        } as never) as unknown as Billing;
        const { lines, charge, paidBack } = billOf(billing);
        expect(lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(bill.charge * 1_000_000n);
        expect([charge, paidBack]).toEqual([bill.charge * 1_000_000n, bill.share * 1_000_000n]);
        const rest = lines.find(({ title }) => ['Rounding', 'Not charged'].includes(title));
        // Each of three amounts is rounded down to a nano-USDC.
        expect(Math.abs(Number(rest?.amount ?? 0n))).toBeLessThan(4_000_000);
      },
    ),
  );
});

test.each([
  [0n, '0.000000000'],
  [1_234_000_000n, '0.000001234'],
  [-1_500_000n, '−0.0000000015'],
  [2n * 10n ** 15n, '2.000000000'],
])('%s is written %s', (amount, text) => {
  expect(exact(amount)).toBe(text);
});
