import type { Domain } from '../catalogue/domains.ts';
import type { DifficultyModels } from './difficulty.ts';
import type { PromptFeatures } from './features.ts';
import file from './weights.json' with { type: 'json' };

/** The share of questions that each graded model answered right, where a model's prior is placed between them. */
export interface Reference {
  readonly weak: number;
  readonly strong: number;
}

/** What `scripts/train-router.ts` wrote, with where it comes from. */
export interface Weights extends DifficultyModels {
  /** Changes with every change of the numbers. */
  readonly id: string;
  /** By form; what is known by its demands alone takes that of `choice`. */
  readonly reference: Readonly<Record<PromptFeatures['form'], Readonly<Record<Domain, Reference>>>>;
}

export const weights: Weights = file;
