import type { Domain } from '../packages/inference/src/catalogue/domains.ts';

interface PricedModel {
  /** USDC for 1,000,000 tokens of prompt, and of answer. */
  readonly input: string;
  readonly output: string;
  /** Share of exam questions expected right. */
  readonly prior: Readonly<Record<Extract<Domain, 'general' | 'mathematics'>, number>>;
}

/** GPT-4 1106 stands for the strong model, Mixtral 8x7B for the cheap one: the answers of these two are graded. */
export const PAIR = {
  strong: { input: '3', output: '15', prior: { general: 0.86, mathematics: 0.92 } },
  cheap: { input: '0.05', output: '0.2', prior: { general: 0.7, mathematics: 0.6 } },
} as const satisfies Readonly<Record<string, PricedModel>>;
