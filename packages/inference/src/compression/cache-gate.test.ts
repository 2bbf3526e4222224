import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CACHE_MINIMUM, CACHE_STEP, type CachePrice, cacheGate, isNoDearer } from './cache-gate.ts';
import { cachePriceOf } from './cache-price.ts';

const price = (input: number, read: number, exact = true): CachePrice => ({
  inputPerMTok: BigInt(input),
  cacheReadPerMTok: BigInt(read),
  exact,
});

/** What a provider reads of a prompt that it has seen before. */
const readOf = (tokens: number): number =>
  tokens < CACHE_MINIMUM ? 0 : Math.floor(tokens / CACHE_STEP) * CACHE_STEP;

/** What the shorter beginning costs more in a later call, where `beside` tokens stand before both. */
const dearerBy = (input: number, read: number, saved: number, left: number): number =>
  (input - read) * (readOf(left + saved) - readOf(left)) - input * saved;

const rates = fc.tuple(fc.nat(1_000), fc.nat(1_000)).filter(([input, read]) => read < input);
const besides = Array.from({ length: 2 * CACHE_MINIMUM }, (_, beside) => beside);

describe('a shorter beginning', () => {
  it('is let through where it is no dearer wherever a cache’s steps fall, and only there', () => {
    fc.assert(
      fc.property(rates, fc.nat(3_000), fc.nat(2_000), ([input, read], saved, left) => {
        const worst = Math.max(...besides.map((beside) => dearerBy(input, read, saved, left + beside)));
        expect(isNoDearer(price(input, read), saved, left)).toBe(worst <= 0);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has a quarter to spare where the provider’s tokens are not known', () => {
    fc.assert(
      fc.property(
        rates,
        fc.nat(6_000),
        fc.nat(3_000),
        fc.double({ min: 0.75, max: 3, noNaN: true }),
        ([input, read], saved, left, scale) => {
          fc.pre(isNoDearer(price(input, read, false), saved, left));
          const own = Math.floor(saved * scale);
          const behind = Math.ceil(left * scale);
          const worst = Math.max(...besides.map((beside) => dearerBy(input, read, own, behind + beside)));
          expect(worst).toBeLessThanOrEqual(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    [10, 100, [115, 116, 230, 231, 1_036, 1_037], [false, true, false, true, false, true]],
    [25, 100, [95, 96, 191, 192, 287, 288], [false, true, false, true, false, true]],
    [50, 100, [63, 64, 127, 128, 129], [false, true, true, true, true]],
    [100, 100, [1], [true]],
  ] as const)('at %i of %i for reading: %j', (read, input, saved, expected) => {
    expect(saved.map((tokens) => isNoDearer(price(input, read), tokens, 2_000))).toEqual(expected);
  });

  it('is let through message by message, each by those before it', () => {
    const before = [2_000, 100, 300, 100, 300];
    const gate = cacheGate(price(100, 10), (index) => before[index] ?? 0);
    expect([1, 2, 3, 4].map((index) => gate(index, [0, 60, 120, 5, 120][index] ?? 0))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    const short = cacheGate(price(100, 10), () => 700);
    expect([0, 1, 2].map((index) => short(index, 128))).toEqual([false, true, true]);
    const free = cacheGate(price(100, 10), () => 700, 1);
    expect(free(0, 10)).toBe(true);
  });
});

it('holds back at the lowest price for reading of all models that cache by themselves', () => {
  const model = (input: bigint, read: bigint, write = input, tokenizer: 'o200k' | 'estimate' = 'o200k') => ({
    price: { inputPerMTok: input, outputPerMTok: 0n, cacheReadPerMTok: read, cacheWritePerMTok: write },
    tokenizer,
  });
  const explicit = model(100n, 1n, 125n, 'estimate');
  expect(cachePriceOf([model(100n, 100n), explicit], 'o200k_base')).toBeNull();
  const half = model(100n, 50n);
  const quarter = model(1_000n, 250n);
  expect(cachePriceOf([half, quarter, explicit], 'o200k_base')).toEqual(price(1_000, 250));
  expect(cachePriceOf([quarter, half], 'cl100k_base')).toEqual(price(1_000, 250, false));
  expect(cachePriceOf([half, model(8n, 1n, 8n, 'estimate')], 'o200k_base')).toEqual(price(8, 1, false));
});
