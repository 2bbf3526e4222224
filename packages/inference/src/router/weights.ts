import type { Domain } from '../catalogue/domains.ts';
import type { LinearModel } from './difficulty.ts';
import type { PromptFeatures } from './features.ts';
import file from './weights.json' with { type: 'json' };

/** The share of questions that each graded model answered right, where a model's prior is placed between them. */
export interface Reference {
  readonly weak: number;
  readonly strong: number;
}

/** What `scripts/train-router.ts` wrote, with where it comes from. */
export interface Weights {
  /** Changes with every change of the numbers. */
  readonly id: string;
  readonly models: Readonly<Record<PromptFeatures['form'], LinearModel>>;
  readonly reference: Readonly<Record<PromptFeatures['form'], Readonly<Record<Domain, Reference>>>>;
}

export const weights: Weights = file;
