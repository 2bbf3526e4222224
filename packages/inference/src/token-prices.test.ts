import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billEntries, capBill, ceiling, type PricedCall, priceCall } from './token-prices.ts';

/** 2.50, 10, 1.25 and 3.125 dollars a million tokens. */
const price = {
  inputPerMTok: 2_500_000_000n,
  outputPerMTok: 10_000_000_000n,
  cacheReadPerMTok: 1_250_000_000n,
  cacheWritePerMTok: 3_125_000_000n,
};
const usage = { promptTokens: 1_000, completionTokens: 100, cachedTokens: 400, estimated: false };
const plain: PricedCall = {
  price,
  usage,
  gross: 0n,
  lost: 0n,
  sharePercent: 25,
  member: null,
  dust: 0n,
};

const calls = fc.record({
  price: fc.record({
    inputPerMTok: fc.bigInt(0n, 10n ** 11n),
    outputPerMTok: fc.bigInt(0n, 10n ** 11n),
    cacheReadPerMTok: fc.bigInt(0n, 10n ** 11n),
    cacheWritePerMTok: fc.bigInt(0n, 10n ** 11n),
  }),
  usage: fc
    .tuple(fc.nat(100_000), fc.nat(100_000), fc.nat(100_000), fc.nat(50_000))
    .map(([fresh, cachedTokens, cacheWriteTokens, completionTokens]) => ({
      promptTokens: fresh + cachedTokens + cacheWriteTokens,
      cachedTokens,
      cacheWriteTokens,
      completionTokens,
      estimated: false,
    })),
  gross: fc.bigInt(0n, 10n ** 16n),
  lost: fc.bigInt(0n, 10n ** 16n),
  sharePercent: fc.constantFrom(25, 35, 40, 50),
  member: fc.constantFrom(null, 'did:web:a.example'),
  dust: fc.bigInt(0n, 999_999n),
});

describe('the bill of a call', () => {
  it('is what the tokens cost, cached ones at their price', () => {
    // 600 x 2500 + 400 x 1250 + 100 x 10000 nano-USDC
    expect(priceCall(plain)).toEqual({
      charge: 3_000_000n,
      cost: 3_000_000n,
      owed: 3_000_000n,
      share: 0n,
      discount: 0n,
      saving: 0n,
      dust: 0n,
    });
  });

  it('has tokens that were written to the cache at their own price', () => {
    // 300 x 2500 + 400 x 1250 + 300 x 3125 + 100 x 10000 nano-USDC
    const written = { ...plain, usage: { ...usage, cacheWriteTokens: 300 } };
    expect(priceCall(written)).toMatchObject({ charge: 3_187_500n, cost: 3_187_500n });
  });

  it('counts no token twice, whatever a provider says of its cache', () => {
    const absurd = { ...plain, usage: { ...usage, cachedTokens: 900, cacheWriteTokens: 900 } };
    // 900 x 1250 + 100 x 3125 + 100 x 10000 nano-USDC
    expect(priceCall(absurd).cost).toBe(2_437_500n);
  });

  it('charges what was saved net of what was lost, and gives the share back: as a discount, or to the member', () => {
    const saved = { ...plain, gross: 200n * price.inputPerMTok, lost: 100_000n * 1_000_000n };
    expect(priceCall(saved)).toMatchObject({
      charge: 3_300_000n,
      cost: 3_000_000n,
      saving: 400_000n,
      discount: 100_000n,
      share: 0n,
    });
    expect(priceCall({ ...saved, member: 'did:web:a.example', sharePercent: 40 })).toMatchObject({
      charge: 3_400_000n,
      discount: 0n,
      share: 160_000n,
    });
  });

  it('saves nothing, and charges no more than the cost, where more was lost than saved', () => {
    expect(priceCall({ ...plain, gross: 1n, lost: 10n ** 12n })).toMatchObject({
      charge: 3_000_000n,
      cost: 3_000_000n,
      saving: 0n,
      discount: 0n,
    });
  });

  it('rounds down and carries the dust, so that many small calls cost what they cost together', () => {
    fc.assert(
      fc.property(fc.array(calls, { maxLength: 20 }), (many) => {
        let dust = 0n;
        let charged = 0n;
        let exact = 0n;
        for (const call of many) {
          const alone = { ...call, gross: 0n, dust };
          const { inputPerMTok, outputPerMTok, cacheReadPerMTok, cacheWritePerMTok } = call.price;
          const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = call.usage;
          exact +=
            inputPerMTok * BigInt(promptTokens - cachedTokens - cacheWriteTokens) +
            cacheReadPerMTok * BigInt(cachedTokens) +
            cacheWritePerMTok * BigInt(cacheWriteTokens) +
            outputPerMTok * BigInt(completionTokens);
          const bill = priceCall(alone);
          charged += bill.charge;
          ({ dust } = bill);
        }
        expect(charged).toBe(exact / 1_000_000n);
        expect(dust).toBe(exact % 1_000_000n);
      }),
    );
  });

  it('never costs the service: charge - share >= cost, whole or capped above it', () => {
    fc.assert(
      fc.property(calls, fc.bigInt(0n, 10n ** 12n), (call, limit) => {
        const bill = priceCall(call);
        expect(bill.charge - bill.share).toBeGreaterThanOrEqual(bill.cost);
        const capped = capBill(bill, limit);
        expect(capped.charge).toBeLessThanOrEqual(limit);
        expect(capped.share).toBeGreaterThanOrEqual(0n);
        const owed = limit < bill.cost ? limit : bill.cost;
        expect(capped.charge - capped.share).toBeGreaterThanOrEqual(owed);
        const sum = billEntries(capped, { payer: 'caller:a', provider: 'p', member: call.member }).reduce(
          (total, { amount }) => total + amount,
          0n,
        );
        expect(sum).toBe(0n);
      }),
    );
  });

  it('is within its ceiling, whatever dust is carried', () => {
    fc.assert(
      fc.property(calls, fc.nat(100_000), (call, saved) => {
        const { promptTokens, completionTokens } = call.usage;
        const most = ceiling(call.price, promptTokens + saved, completionTokens);
        const gross = BigInt(saved) * call.price.inputPerMTok;
        expect(priceCall({ ...call, gross }).charge).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('books what a provider will ask for, and its loss to the service, where its counts are not believed', () => {
    const bill = priceCall({ ...plain, claimed: { ...usage, promptTokens: 1_000_000 } });
    expect(bill).toMatchObject({ charge: 3_000_000n, cost: 3_000_000n });
    const entries = billEntries(bill, { payer: 'caller:key_a', provider: 'openai', member: null });
    expect(entries).toEqual([
      { account: 'caller:key_a', amount: -3_000_000n },
      { account: 'provider:openai', amount: 2_500_500_000n },
      { account: 'revenue', amount: -2_497_500_000n },
    ]);
  });

  it('names who gets what', () => {
    const gross = 200n * price.inputPerMTok;
    const bill = priceCall({ ...plain, gross, member: 'did:web:a.example', sharePercent: 50 });
    expect(
      billEntries(bill, { payer: 'caller:key_a', provider: 'openai', member: 'did:web:a.example' }),
    ).toEqual([
      { account: 'caller:key_a', amount: -3_500_000n },
      { account: 'provider:openai', amount: 3_000_000n },
      { account: 'caller:did:web:a.example', amount: 250_000n },
      { account: 'revenue', amount: 250_000n },
    ]);
  });
});
