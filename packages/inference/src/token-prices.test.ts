import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  billEntries,
  capBill,
  ceiling,
  type PricedCall,
  priceCall,
  type Tariffs,
  type TokenPrices,
  tariffFor,
} from './token-prices.ts';
import { SERVICE_TIERS } from './types.ts';

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
  rounds: [usage],
  gross: 0n,
  lost: 0n,
  sharePercent: 25,
  member: null,
  dust: 0n,
};

const prices = fc.record({
  inputPerMTok: fc.bigInt(0n, 10n ** 11n),
  outputPerMTok: fc.bigInt(0n, 10n ** 11n),
  cacheReadPerMTok: fc.bigInt(0n, 10n ** 11n),
  cacheWritePerMTok: fc.bigInt(0n, 10n ** 11n),
  cacheWriteLongPerMTok: fc.bigInt(0n, 10n ** 11n),
});

/** Prices that rise with the prompt, as a catalogue's must, some of them halved for another class of service. */
const tariffed = fc
  .tuple(prices, fc.nat(300_000), fc.nat(300_000), fc.bigInt(0n, 30n), fc.bigInt(0n, 30n))
  .map(([base, first, more, rise, again]): Tariffs => {
    const times = (percent: bigint): TokenPrices => ({
      inputPerMTok: (base.inputPerMTok * percent) / 100n,
      outputPerMTok: (base.outputPerMTok * percent) / 100n,
      cacheReadPerMTok: (base.cacheReadPerMTok * percent) / 100n,
      cacheWritePerMTok: (base.cacheWritePerMTok * percent) / 100n,
      cacheWriteLongPerMTok: (base.cacheWriteLongPerMTok * percent) / 100n,
    });
    return {
      ...base,
      tariffs: [
        { aboveTokens: first, ...times(100n + rise) },
        { aboveTokens: first + more, ...times(100n + rise + again) },
        { serviceTier: 'flex', ...times(50n) },
        { serviceTier: 'flex', aboveTokens: first, ...times(50n + rise) },
        { serviceTier: 'priority', ...times(200n) },
      ],
    };
  });

const usages = fc
  .tuple(
    fc.tuple(fc.nat(100_000), fc.nat(100_000), fc.nat(100_000), fc.nat(50_000)),
    fc.nat(100_000),
    fc.constantFrom(undefined, ...SERVICE_TIERS),
  )
  .map(([[fresh, cachedTokens, cacheWriteTokens, completionTokens], long, serviceTier]) => ({
    promptTokens: fresh + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    longWriteTokens: Math.min(long, cacheWriteTokens),
    completionTokens,
    ...(serviceTier !== undefined && { serviceTier }),
    estimated: false,
  }));

const calls = fc.record({
  price: fc.oneof(prices, tariffed),
  rounds: fc.array(usages, { minLength: 1, maxLength: 3 }),
  gross: fc.bigInt(0n, 10n ** 16n),
  lost: fc.bigInt(0n, 10n ** 16n),
  sharePercent: fc.constantFrom(25, 35, 40, 50),
  member: fc.constantFrom(null, 'did:web:a.example'),
  dust: fc.bigInt(0n, 999_999n),
});

describe('the tariff of a call', () => {
  const long = { ...price, inputPerMTok: 5_000_000_000n };
  const flex = { ...price, inputPerMTok: 1n };
  const longFlex = { ...price, inputPerMTok: 2n };
  const tariffs = {
    ...price,
    tariffs: [
      { ...long, aboveTokens: 272_000 },
      { ...flex, serviceTier: 'flex' as const },
      { ...longFlex, aboveTokens: 272_000, serviceTier: 'flex' as const },
    ],
  };

  it.each([
    ['a short prompt', { promptTokens: 272_000 }, 2_500_000_000n],
    ['a prompt of one token more', { promptTokens: 272_001 }, 5_000_000_000n],
    ['another class of service', { promptTokens: 272_000, serviceTier: 'flex' as const }, 1n],
    ['a long prompt in another class', { promptTokens: 272_001, serviceTier: 'flex' as const }, 2n],
    [
      'a class that has no prices of its own',
      { promptTokens: 1, serviceTier: 'priority' as const },
      2_500_000_000n,
    ],
  ])('is for %s', (_, terms, input) => {
    expect(tariffFor(tariffs, terms).inputPerMTok).toBe(input);
  });

  it('is each call’s own where one answer took several', () => {
    const rounds = [272_000, 272_001].map((promptTokens) => ({ ...usage, promptTokens, cachedTokens: 0 }));
    // 272000 x 2500 + 272001 x 5000 + 2 x 100 x 10000 nano-USDC
    expect(priceCall({ ...plain, price: tariffs, rounds }).cost).toBe(2_042_005_000n);
  });

  it('has a price of its own for what a cache keeps for long', () => {
    const twice = { ...price, cacheWriteLongPerMTok: 5_000_000_000n };
    const rounds = [{ ...usage, cacheWriteTokens: 300, longWriteTokens: 100 }];
    // 300 x 2500 + 400 x 1250 + 200 x 3125 + 100 x 5000 + 100 x 10000 nano-USDC
    expect(priceCall({ ...plain, price: twice, rounds }).cost).toBe(3_375_000n);
    // At the price of any other write, where none is given.
    expect(priceCall({ ...plain, rounds }).cost).toBe(3_187_500n);
  });
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
    const written = { ...plain, rounds: [{ ...usage, cacheWriteTokens: 300 }] };
    expect(priceCall(written)).toMatchObject({ charge: 3_187_500n, cost: 3_187_500n });
  });

  it('counts no token twice, whatever a provider says of its cache', () => {
    const absurd = { ...plain, rounds: [{ ...usage, cachedTokens: 900, cacheWriteTokens: 900 }] };
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
          for (const { promptTokens, completionTokens, ...one } of call.rounds) {
            const tariff = tariffFor(call.price, { promptTokens, ...one });
            const { cachedTokens, cacheWriteTokens, longWriteTokens } = one;
            exact +=
              tariff.inputPerMTok * BigInt(promptTokens - cachedTokens - cacheWriteTokens) +
              tariff.cacheReadPerMTok * BigInt(cachedTokens) +
              tariff.cacheWritePerMTok * BigInt(cacheWriteTokens - longWriteTokens) +
              (tariff.cacheWriteLongPerMTok ?? 0n) * BigInt(longWriteTokens) +
              tariff.outputPerMTok * BigInt(completionTokens);
          }
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

  it('is within its ceiling, whatever dust is carried and however many calls it took', () => {
    fc.assert(
      fc.property(calls, fc.nat(100_000), fc.constantFrom(...SERVICE_TIERS), (call, saved, serviceTier) => {
        // A provider may serve in the standard class what was asked for in another.
        const rounds = call.rounds.map(({ serviceTier: other, ...one }) =>
          other === serviceTier ? { ...one, serviceTier } : one,
        );
        const sum = (member: 'promptTokens' | 'completionTokens') =>
          rounds.reduce((total, one) => total + one[member], 0);
        const promptTokens = sum('promptTokens') + saved;
        const most = ceiling(call.price, { promptTokens, serviceTier }, sum('completionTokens'));
        const [first] = rounds;
        const gross = BigInt(saved) * tariffFor(call.price, first ?? { promptTokens: 0 }).inputPerMTok;
        expect(priceCall({ ...call, rounds, gross }).charge).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('books what a provider will ask for, and its loss to the service, where its counts are not believed', () => {
    const bill = priceCall({ ...plain, claimed: [{ ...usage, promptTokens: 1_000_000 }] });
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
