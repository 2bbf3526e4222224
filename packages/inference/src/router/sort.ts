/**
 * What the models that can take a request are sorted by. `balanced` weighs quality against cost by `cost_quality`;
 * `price`, `throughput` and `latency` are called as in OpenRouter's `provider.sort`.
 */
export const SORTS = ['balanced', 'price', 'latency', 'throughput', 'quality'] as const;
export type Sort = (typeof SORTS)[number];

/** What a payer wants to spend on calls in a UTC day, and has spent so far. Nano-USDC in decimal digits. */
export interface DayBudget {
  readonly per_day: string;
  readonly spent: string;
}

/** How a decision sorts, where it is not by the balance of quality and cost alone. */
export interface Strategy {
  readonly sort: Sort;
  readonly budget?: DayBudget;
}
