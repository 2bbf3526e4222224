/** An amount of USDC as decimal text, and in nano-USDC. */
export interface Money {
  readonly usdc: string;
  readonly nano: string;
}

interface UsageSums {
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly charged: Money;
  readonly saved_tokens: number;
  readonly saving: Money;
  readonly share: Money;
}

/** Usage of one model on one UTC day. */
export interface UsageDay extends UsageSums {
  readonly day: string;
  readonly model: string;
}

/** Answer of `GET /v1/compute/usage/{did}`. */
export interface Usage {
  readonly did: string;
  readonly days: readonly UsageDay[];
  readonly total: UsageSums;
  readonly account: { readonly balance: Money };
}

export interface Totals {
  readonly calls: number;
  readonly tokens_before: number;
  readonly saved_tokens: number;
  readonly saving: Money;
  readonly share: Money;
  readonly methods: Readonly<Record<string, { readonly calls: number; readonly tokens: number }>>;
}

/** Answer of `GET /v1/compute/compression/stats`. */
export interface Stats {
  readonly service: Totals;
  readonly caller: (Totals & { readonly subject: string }) | null;
}
