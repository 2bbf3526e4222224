import { TallyError } from '@tallystick/core';
import type { Model } from './catalogue.ts';

const DAY_MS = 86_400_000;
/** Days before its end from which a model is warned of. */
const RETIRING_DAYS = 31;
/** Days from which the age of a price is warned of, whatever the operator's limit is. */
const OLD_PRICE_DAYS = 90;

/** What is wrong with a catalogue's entry, or will be. The first two keep a model from being called. */
export type Upkeep = 'retired' | 'price_outdated' | 'retires_soon' | 'price_old';

export interface UpkeepTerms {
  /** Unix milliseconds. */
  readonly now: number;
  /** Days after which a price is no longer billed by; 0 for never. */
  readonly maxPriceAgeDays: number;
}

/** Days since a model's price was read, rounded down; null where it has no date, or is free. */
export function priceAgeDays({ price }: Pick<Model, 'price'>, now: number): number | null {
  const { source = null, inputPerMTok, outputPerMTok } = price;
  if (source === null || inputPerMTok + outputPerMTok === 0n) return null;
  return Math.max(0, Math.floor((now - Date.parse(source.readOn)) / DAY_MS));
}

/** Days until a model's provider shuts it down, less than 1 from that day (UTC) on; null where none is announced. */
export function retiresInDays({ retiresOn }: Pick<Model, 'retiresOn'>, now: number): number | null {
  return retiresOn === undefined ? null : Math.ceil((Date.parse(retiresOn) - now) / DAY_MS);
}

/** What is to be done about a model's entry, the worst first; null where nothing is. */
export function upkeepOf(model: Model, { now, maxPriceAgeDays }: UpkeepTerms): Upkeep | null {
  const left = retiresInDays(model, now);
  if (left !== null && left <= 0) return 'retired';
  const age = priceAgeDays(model, now);
  const { validUntil } = model.price.source ?? {};
  const over = validUntil !== undefined && now >= Date.parse(validUntil) + DAY_MS;
  if (age !== null && (over || (maxPriceAgeDays > 0 && age > maxPriceAgeDays))) return 'price_outdated';
  if (left !== null && left <= RETIRING_DAYS) return 'retires_soon';
  return age !== null && age > OLD_PRICE_DAYS ? 'price_old' : null;
}

/**
 * Refuses a call that names a model which can't be called any more.
 * @throws model_gone with the successors of a model past its date; price_outdated
 */
export function requireUpkept(model: Model, terms: UpkeepTerms): void {
  const { id, provider, retiresOn, successors = [], price } = model;
  const state = upkeepOf(model, terms);
  if (state === 'retired') {
    const instead = successors.length > 0 ? successors.join(' or ') : 'another of /v1/compute/models';
    throw new TallyError(
      'model_gone',
      `${id}: ${provider} shut this model down on ${retiresOn}. Name ${instead}, or auto.`,
      { field: 'model' },
    );
  }
  if (state === 'price_outdated') {
    throw new TallyError(
      'price_outdated',
      `${id}: its price was read on ${price.source?.readOn}, and this service no longer bills by that. Name another model, or ask the operator to import current prices.`,
      { field: 'model' },
    );
  }
}
