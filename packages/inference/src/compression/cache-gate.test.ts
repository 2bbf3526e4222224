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

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** The messages that may be sent shorter. @param savings of each message; 0 for one that is none */
function gated(
  prompt: Parameters<typeof cacheGate>[1],
  savings: readonly number[],
  at: CachePrice = price(100, 10),
): number[] {
  const gains = savings.map((saved, index) => [index, saved] as const).filter(([, saved]) => saved > 0);
  return [...cacheGate(at, prompt, new Map(gains))].sort((one, other) => one - other);
}

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

  it('is let through message by message, each by those before it, where each may be sent without the next', () => {
    const prompt = { before: [2_000, 100, 300, 100, 300], until: [0, 1, 2, 3, 4] };
    expect(gated(prompt, [0, 60, 120, 5, 120])).toEqual([2, 3, 4]);
    const short = { before: [700, 700, 700], until: [0, 1, 2] };
    expect(gated(short, [128, 128, 128])).toEqual([1, 2]);
    expect(gated({ ...short, free: 1 }, [10, 10, 10])).toEqual([0]);
  });

  it.each<[string, number[], number[]]>([
    ['two that do not pay alone', [0, 60, 60], [1, 2]],
    ['three of which only two pay', [0, 60, 60, 60], [1, 2]],
    ['twenty that do not pay alone', [0, ...Array.from({ length: 20 }, () => 60)], range(1, 20)],
    ['the largest, and what still pays beside them', [0, 5, 60, 120, 120], [1, 3, 4]],
    ['none where none pay', [0, 50, 50], []],
  ])('is let through as far as messages pay that are only sent together: %s', (_, savings, expected) => {
    const before = savings.map((_, index) => (index === 0 ? 2_000 : 300));
    const until = savings.map((_, index) => (index === 0 ? 0 : savings.length - 1));
    expect(gated({ before, until }, savings)).toEqual(expected);
  });

  it('is measured where the messages end that are only sent together, not before', () => {
    const alone = { before: [700, 700, 700], until: [0, 1, 2] };
    expect(gated(alone, [128, 0, 0])).toEqual([]);
    expect(gated({ ...alone, until: [2, 2, 2] }, [128, 0, 0])).toEqual([0]);
  });

  /** A prompt in groups, each message with its tokens and what it would save. */
  const groups = fc.array(
    fc.array(
      fc.tuple(fc.nat(1_500), fc.nat(100)).map(([tokens, percent]) => ({
        tokens,
        saved: Math.floor((tokens * percent) / 100),
      })),
      { minLength: 1, maxLength: 12 },
    ),
    { minLength: 1, maxLength: 6 },
  );

  it('costs no more than with everything cut, and than with nothing cut, wherever a cache’s steps fall', () => {
    fc.assert(
      fc.property(rates, groups, ([input, read], groups) => {
        const all = groups.flat();
        const ends = groups.map((_, index) => groups.slice(0, index + 1).flat().length);
        const until = all.map((_, index) => (ends.find((end) => end > index) ?? 0) - 1);
        const prompt = { before: all.map(({ tokens }) => tokens), until };
        const accepted = new Set(
          gated(
            prompt,
            all.map(({ saved }) => saved),
            price(input, read),
          ),
        );
        let earlier = 0;
        let start = 0;
        for (const end of ends) {
          const part = all.slice(start, end);
          const came = all.slice(0, end).reduce((sum, { tokens }) => sum + tokens, 0);
          const worst = (saved: number): number =>
            Math.max(...besides.map((beside) => dearerBy(input, read, saved, came - saved + beside)));
          const everything = part.reduce((sum, { saved }) => sum + saved, 0);
          const cut = part.reduce((sum, { saved }, at) => sum + (accepted.has(start + at) ? saved : 0), 0);
          expect(worst(earlier + cut)).toBeLessThanOrEqual(0);
          expect(worst(earlier + cut)).toBeLessThanOrEqual(Math.max(0, worst(earlier + everything)));
          // What pays is all cut, so that no call costs more at first either.
          expect(cut === everything || worst(earlier + everything) > 0).toBe(true);
          earlier += cut;
          start = end;
        }
      }),
      { numRuns: 300 },
    );
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
