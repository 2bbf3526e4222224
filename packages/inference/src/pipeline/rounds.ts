import type { Dust } from '@tallystick/ledger';
import { costOf, costOfAll, type Tariffs } from '../token-prices.ts';
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
      ...(longWrites(sum) + longWrites(one) > 0 && { longWriteTokens: longWrites(sum) + longWrites(one) }),
      estimated: sum.estimated || one.estimated,
    }),
    first,
  );
}

const writes = ({ cacheWriteTokens = 0 }: Usage): number => cacheWriteTokens;
const longWrites = ({ longWriteTokens = 0 }: Usage): number => longWriteTokens;

/** The provider's counts of each round, if one of them is not believed; else undefined. */
export function claimedOf(rounds: Rounds): readonly Usage[] | undefined {
  if (rounds.every(({ doubt }) => doubt === undefined)) return undefined;
  return rounds.map((usage) => usage.doubt?.claimed ?? usage);
}

/** The cost of the rounds above that of one call with the first's prompt and the last's answer, if they cost more. */
export function costOfMore(price: Tariffs, rounds: Rounds): Dust {
  const [first] = rounds;
  const { completionTokens } = rounds.at(-1) ?? first;
  const more = costOfAll(price, rounds) - costOf(price, { ...first, completionTokens });
  return more > 0n ? more : 0n;
}
