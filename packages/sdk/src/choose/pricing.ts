import type { Profile } from '@tallystick/core';
import type { CallOptions, Transport } from '../http/transport.ts';

/** The price ladder as the service publishes it. Amounts are decimal text in US dollars; null is without limit. */
export interface PriceLadder {
  readonly currency: 'USD';
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
  }[];
}

/** What receipts cost, and how long they are kept. @throws ServiceError */
export async function pricing(transport: Transport, call?: CallOptions): Promise<PriceLadder> {
  const { json } = await transport.get('/pricing', call);
  return json as unknown as PriceLadder;
}
