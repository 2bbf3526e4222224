import type { Model } from '../catalogue/catalogue.ts';

/** The assumed length of an answer in tokens, if it may be longer and nothing was measured. */
export const TYPICAL_ANSWER = 256;
/** The same for a model that reasons before it answers, reasoning included: an assumption, not a measurement. */
const REASONED_ANSWER = 1_024;

export function assumedOutput({ abilities }: Pick<Model, 'abilities'>): number {
  return abilities.has('reasoning') ? REASONED_ANSWER : TYPICAL_ANSWER;
}
