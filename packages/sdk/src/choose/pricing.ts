import type { Profile } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';

/** The price ladder as the service publishes it. Amounts are decimal text in US dollars; null means without limit. */
export interface PriceLadder {
  readonly currency: 'USD';
  /** UTC time from which these prices apply. */
  readonly valid_from: string;
  readonly settlement: { readonly asset: string; readonly payment_required: boolean };
  readonly free: {
    readonly mint: { readonly path: string; readonly price_usd: string; readonly per_day: number | null };
    readonly verify: { readonly path: string; readonly price_usd: string; readonly per_day: number | null };
  };
  readonly profiles: readonly {
    readonly profile: Profile;
    readonly price_usd: string;
    readonly unit: 'call';
    readonly max_bytes: number | null;
    readonly retention_days: number;
    readonly default: boolean;
    /** Names of `payment.methods`. */
    readonly pay_by: readonly string[];
  }[];
  readonly metering: {
    readonly path: string;
    readonly price_usd: string;
    readonly unit: 'call';
    readonly max_bytes: number | null;
    readonly retention_days: number;
  };
  readonly anchor_tiers: readonly {
    readonly tier: 'free' | 'pro' | 'scale' | 'enterprise';
    readonly key_prefix: string | null;
    readonly receipts: { readonly count: number; readonly per: 'day' | 'month' } | null;
    readonly anchored: string;
    readonly verifier: string;
    /** Whether this service has the tier's verifier: false for the on-premises image. */
    readonly verifier_available: boolean;
    /** Monthly price in US dollars; null if the tier is not sold by payment. */
    readonly monthly_usd: string | null;
    readonly annual_usd: string | null;
    readonly pay_by: readonly string[];
  }[];
  readonly annual_prepay_months: number;
  readonly reads: {
    readonly price_usd: string;
    /** Free reads a day of each DID; null where they are not limited. */
    readonly free_per_day: number | null;
    /** Free reads a day of all DIDs at one address together; null where they are not limited. */
    readonly free_per_day_by_address: number | null;
    readonly pay_by: readonly string[];
  };
  readonly compute: {
    readonly share_of_savings_pct: Readonly<Record<string, number>>;
    readonly pay_by: readonly string[];
  };
  readonly balance: { readonly low_below_usd: string; readonly withdrawal_min_usd: string };
  /** Ways to pay; null if the service takes no payments. */
  readonly payment: {
    /** CAIP-2 id of the chain. */
    readonly network: string;
    readonly chain_id: number;
    readonly asset: string;
    /** Address of the asset's contract. */
    readonly token: string;
    readonly decimals: number;
    readonly treasury: string;
    readonly confirmations: number;
    readonly methods: Readonly<Record<string, unknown>>;
  } | null;
}

/** Returns the prices and retentions of receipts. @throws ServiceError */
export async function pricing(transport: Transport, call?: CallOptions): Promise<PriceLadder> {
  const { json } = await transport.get<PriceLadder>('/pricing', call);
  return json;
}
