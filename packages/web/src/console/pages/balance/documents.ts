/** An amount of the ledger: decimal USDC, to the nano. */
interface Amount {
  readonly usdc: string;
}

/** The answer of `GET /v1/balance`. */
export interface Balance {
  readonly account: string;
  readonly balance: Amount;
  readonly reserved: Amount;
  readonly available: Amount;
  readonly low: boolean;
  readonly low_below: Amount;
}

/** A row of `GET /v1/balance/entries`. */
export interface Entry {
  readonly line: number;
  readonly at: string;
  readonly amount_usdc: string;
  readonly balance_usdc: string;
  readonly memo: string;
  readonly id: string;
}

interface UsageSums {
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly charged: Amount;
  readonly saved_tokens: number;
  readonly saving: Amount;
  readonly share: Amount;
}

/** The calls of one UTC day and model. */
export interface UsageDay extends UsageSums {
  readonly day: string;
  readonly model: string;
}

/** The answer of `GET /v1/compute/usage/{did}`. */
export interface Usage {
  readonly days: readonly UsageDay[];
  readonly total: UsageSums;
}

/** The answer of `GET /v1/compute/compression/stats`, as far as it is read here. */
export interface CompressionStats {
  readonly caller: { readonly subject: string } | null;
}

/** The answer of `GET /.well-known/x402`, as far as it is read here. */
export interface Payable {
  /** CAIP-2; null where no payments are taken. */
  readonly network: string | null;
}

/** The answer of `POST /v1/balance/quote`. */
export interface Quote {
  readonly order_id: string;
  readonly network: string;
  readonly asset: string;
  readonly pay_to: string;
  /** In base units, millionths. */
  readonly amount: string;
  readonly amount_usdc: string;
  readonly expires_at: string;
  readonly confirmations: number;
}
