import { describe, expect, it } from 'vitest';
import type { Layout } from './pipeline/compressor-interface.ts';
import { savingOf } from './savings.ts';
import type { Usage } from './types.ts';

/** 1, 4, 0.1 and 1.25 dollars a million tokens. */
const price = {
  inputPerMTok: 1_000n,
  outputPerMTok: 4_000n,
  cacheReadPerMTok: 100n,
  cacheWritePerMTok: 1_250n,
};
const usage = (promptTokens: number, cachedTokens = 0, cacheWriteTokens = 0): Usage => ({
  promptTokens,
  completionTokens: 0,
  cachedTokens,
  ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  estimated: false,
});
const layout: Layout = {
  before: [2_000, 3_000, 100, 900],
  after: [2_000, 1_000, 100, 400],
  sent: 2,
  changed: false,
};

describe('what was saved is worth', () => {
  it.each([
    ['the input price, where nothing is cached', usage(3_500), 2_000 * 1_000 + 500 * 1_000],
    ['the price of reading the cache, for what lies in it', usage(3_500, 3_000), 2_000 * 100 + 500 * 1_000],
    ['no less for what is new, where tools stand before it', usage(9_500, 9_000), 2_000 * 100 + 500 * 1_000],
    ['the lesser price of a message that is read in part', usage(3_500, 2_500), 2_000 * 100 + 500 * 1_000],
    ['the price of writing, for what is written', usage(3_500, 3_000, 500), 2_000 * 100 + 500 * 1_250],
    ['as much as the provider counts', usage(2_800), 1_600 * 1_000 + 400 * 1_000],
  ] as const)('%s', (_, used, gross) => {
    expect(savingOf(price, used, layout, true).gross).toBe(BigInt(gross));
  });

  it('less by what is lost of the cache: a step, a beginning that is too short, a form that was taken back', () => {
    const itself = { ...price, cacheWritePerMTok: price.inputPerMTok };
    const lost = (used: Usage, change: Partial<Layout>) =>
      savingOf(itself, used, { ...layout, ...change }, true);
    expect(lost(usage(3_500, 2_950), {})).toMatchObject({ lostCacheTokens: 50, lostCache: 45_000n });
    expect(lost(usage(3_500, 128), {}).lostCacheTokens).toBe(127);
    expect(lost(usage(3_500), {}).lostCacheTokens).toBe(0);
    // Where the tools stand is not told: before the messages is the worst.
    expect(lost(usage(3_600, 3_072), {}).lostCacheTokens).toBe(28);
    const short = { before: [400, 900, 300], after: [400, 300, 400], sent: 2 };
    expect(lost(usage(1_100), short).lostCacheTokens).toBe(1_300);
    // Of a prompt that is too short for a cache, nothing tells whether it went out before.
    expect(lost(usage(900), { ...short, after: [400, 300, 200] }).lostCacheTokens).toBe(1_600);
    expect(lost(usage(3_500, 1_000), { changed: true }).lostCacheTokens).toBe(4_000);
    expect(lost(usage(3_500, 128), { after: [2_000, 3_000, 100, 400] }).lostCacheTokens).toBe(0);
    const dearRead = { ...itself, cacheReadPerMTok: 2_000n };
    expect(savingOf(dearRead, usage(3_500, 128), layout, true).lostCache).toBe(0n);
  });

  it('three quarters, and a step less, where the provider’s tokens are not known', () => {
    const itself = { ...price, cacheWritePerMTok: price.inputPerMTok };
    expect(savingOf(itself, usage(3_500, 2_944), layout, false)).toEqual({
      gross: 1_500n * 100n + 375n * 1_000n,
      lostCacheTokens: 127,
      lostCache: 127n * 900n,
    });
  });
});
