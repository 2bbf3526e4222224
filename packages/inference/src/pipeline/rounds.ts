import type { Dust } from '@tallystick/ledger';
import { costOf, type TokenPrices } from '../token-prices.ts';
import type { Usage } from '../types.ts';

/** Usage of the provider's calls for one answer, in order: at least one. */
export type Rounds = readonly [Usage, ...Usage[]];

export function totalOf([first, ...more]: Rounds): Usage {
  return more.reduce(
    (sum, one) => ({
      promptTokens: sum.promptTokens + one.promptTokens,
      completionTokens: sum.completionTokens + one.completionTokens,
      cachedTokens: sum.cachedTokens + one.cachedTokens,
      ...(writes(sum) + writes(one) > 0 && { cacheWriteTokens: writes(sum) + writes(one) }),
      estimated: sum.estimated || one.estimated,
    }),
    first,
  );
}

const writes = ({ cacheWriteTokens = 0 }: Usage): number => cacheWriteTokens;

/** The provider's counts for all rounds, if one of them is not believed; else undefined. */
export function claimedOf(rounds: Rounds): Usage | undefined {
  if (rounds.every(({ doubt }) => doubt === undefined)) return undefined;
  const [first, ...more] = rounds;
  const claim = (usage: Usage): Usage => usage.doubt?.claimed ?? usage;
  return totalOf([claim(first), ...more.map(claim)]);
}

/** The cost of the rounds above that of one call with the first's prompt and the last's answer. */
export function costOfMore(price: TokenPrices, rounds: Rounds): Dust {
  const [first] = rounds;
  const { completionTokens } = rounds.at(-1) ?? first;
  return costOf(price, totalOf(rounds)) - costOf(price, { ...first, completionTokens });
}
