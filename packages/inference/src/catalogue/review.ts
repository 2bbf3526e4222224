import type { Logger } from 'pino';
import type { Model } from './catalogue.ts';
import { type Upkeep, type UpkeepTerms, upkeepOf } from './upkeep.ts';

const DAY_MS = 86_400_000;

const WARNINGS: Readonly<Record<Upkeep, string>> = {
  retired: 'models are past the day on which their providers shut them down, and are no longer called',
  price_outdated: 'models are not called because their prices are too old to bill by: import current ones',
  retires_soon: 'models will be shut down by their providers within a month',
  price_old: 'prices were read long ago: import current ones',
};

/** Writes to the log what is to be done about the catalogue. */
export interface Review {
  (models: readonly Model[], terms: UpkeepTerms): void;
  /** Does nothing until the next day (UTC). */
  daily(models: readonly Model[], terms: UpkeepTerms): void;
}

/** One warning of each kind names all its models. */
export function createReview(logger: Pick<Logger, 'warn'>): Review {
  let day = -1;
  const review = (models: readonly Model[], terms: UpkeepTerms): void => {
    day = Math.floor(terms.now / DAY_MS);
    const found = Map.groupBy(models, (model) => upkeepOf(model, terms));
    for (const [why, some] of found)
      if (why !== null) logger.warn({ why, models: some.map(({ id }) => id) }, WARNINGS[why]);
  };
  return Object.assign(review, {
    daily(models: readonly Model[], terms: UpkeepTerms): void {
      if (Math.floor(terms.now / DAY_MS) !== day) review(models, terms);
    },
  });
}
