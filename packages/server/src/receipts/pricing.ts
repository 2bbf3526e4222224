import { MAX_BYTES, PROFILES, type Profile, RETENTION_DAYS } from '@tallystick/core';

/** US dollars for a call, as decimal text (specification 4.1). */
export const PRICE_USD = { nano: '0.0001', standard: '0.0008', pq: '0.0012' } as const satisfies Record<
  Profile,
  string
>;

/** The machine-readable price ladder. */
export function priceLadder({ freeMintPerDay }: { freeMintPerDay: number }) {
  return {
    currency: 'USD',
    settlement: { asset: 'USDC', payment_required: false },
    free: {
      mint: {
        path: '/v1/receipt/free',
        price_usd: '0',
        per_day: freeMintPerDay === 0 ? null : freeMintPerDay,
      },
      verify: { path: '/v1/receipt/verify', price_usd: '0', per_day: null },
    },
    profiles: PROFILES.map((profile) => ({
      profile,
      price_usd: PRICE_USD[profile],
      unit: 'call',
      max_bytes: profile === 'pq' ? null : MAX_BYTES[profile],
      retention_days: RETENTION_DAYS[profile],
      default: profile === 'standard',
    })),
    metering: {
      path: '/v1/receipt/metering',
      price_usd: PRICE_USD.pq,
      unit: 'call',
      max_bytes: null,
      retention_days: RETENTION_DAYS.metering,
    },
    anchor_tiers: [
      {
        tier: 'free',
        key_prefix: null,
        receipts: { count: 100, per: 'day' },
        anchored: 'none',
        verifier: 'local only',
      },
      {
        tier: 'pro',
        key_prefix: 'k_pro_',
        receipts: { count: 50_000, per: 'month' },
        anchored: 'on demand',
        verifier: 'priority hosted',
      },
      {
        tier: 'scale',
        key_prefix: 'k_scale_',
        receipts: null,
        anchored: 'every receipt',
        verifier: 'dedicated SLA',
      },
      {
        tier: 'enterprise',
        key_prefix: 'k_ent_',
        receipts: null,
        anchored: 'every receipt',
        verifier: 'on-premises image',
      },
    ],
    annual_prepay_months: 10,
  };
}
