import { hash } from 'node:crypto';
import type { Money } from '@tallystick/chain/evm';
import {
  canonicalize,
  DEFAULT_PROFILE,
  formatTimestamp,
  isObject,
  type JsonObject,
  METERING_TERMS,
  parseJson,
  profiles,
  utf8,
} from '@tallystick/core';
import { READ_PRICE } from '@tallystick/inference';
import { formatUsdc, SPREAD_PERCENT } from '@tallystick/ledger';
import { ANNUAL_PREPAY_MONTHS, priceOf, SOLD_TIERS, type SoldTier } from '@tallystick/payments';
import { METERING_PRICE } from '@tallystick/receipts';
import type { Store } from '@tallystick/store';
import type { Config } from '../config/config.ts';

type Settings = Pick<
  Config,
  'freeMintPerDay' | 'freeReadPerDay' | 'freeReadPerDayByAddress' | 'sales' | 'chain'
>;

/** The machine-readable price ladder: what everything costs, and how to pay. Amounts are decimal text. */
export type PriceLadder = ReturnType<typeof pricesOf> & { readonly valid_from: string };

/** The price ladder. Since when it applies is stored whenever its prices have changed. @param now Unix milliseconds */
export async function openPriceLadder(
  store: Pick<Store, 'getDocument' | 'putDocument'>,
  { config, money, now }: { readonly config: Settings; readonly money: Money | null; readonly now: number },
): Promise<PriceLadder> {
  const prices = pricesOf(config, money);
  const digest = hash('sha256', canonicalize(prices));
  const since = (seconds: number): PriceLadder => ({
    ...prices,
    valid_from: formatTimestamp(seconds * 1000),
  });
  for (;;) {
    const stored = await store.getDocument(DOCUMENT);
    const known = stored && readRecord(stored.body);
    if (known?.digest === digest) return since(known.validFrom);
    const validFrom = Math.floor(now / 1000);
    const body = canonicalize({ digest, valid_from: validFrom });
    // Another process may have stored the same prices at the same time.
    if ((await store.putDocument(DOCUMENT, (stored?.version ?? 0) + 1, body)) === 'stored')
      return since(validFrom);
  }
}

const DOCUMENT = 'prices';

function readRecord(body: string): { digest: string; validFrom: number } | null {
  const record = parseJson(utf8(body));
  if (!isObject(record)) return null;
  const { digest, valid_from: validFrom } = record;
  return typeof digest === 'string' && typeof validFrom === 'number' ? { digest, validFrom } : null;
}

function pricesOf(config: Settings, money: Money | null) {
  const { freeMintPerDay, freeReadPerDay, freeReadPerDayByAddress, sales } = config;
  return {
    currency: 'USD',
    settlement: { asset: 'USDC', payment_required: money !== null },
    free: {
      mint: { path: '/v1/receipt/free', price_usd: '0', per_day: limit(freeMintPerDay) },
      verify: { path: '/v1/receipt/verify', price_usd: '0', per_day: null },
    },
    profiles: profiles.map(({ name, priceUsd, form, retentionDays, schemes }) => ({
      profile: name,
      price_usd: priceUsd,
      unit: 'call',
      max_bytes: form.maxBytes,
      retention_days: retentionDays,
      default: name === DEFAULT_PROFILE,
      pay_by: [...schemes, 'prepaid', 'api_key'],
    })),
    metering: {
      path: '/v1/receipt/metering',
      price_usd: METERING_TERMS.priceUsd,
      unit: 'call',
      max_bytes: null,
      retention_days: METERING_TERMS.retentionDays,
      pay_by: [...METERING_PRICE.schemes, 'prepaid', 'api_key'],
    },
    anchor_tiers: anchorTiers(sales, freeMintPerDay),
    annual_prepay_months: ANNUAL_PREPAY_MONTHS,
    reads: {
      what: 'GET /v1/compute/* and POST /v1/compute/estimate; with an API key they are free',
      free_per_day: limit(freeReadPerDay),
      free_by: 'X-Agent-DID',
      free_per_day_by_address: limit(freeReadPerDay === 0 ? 0 : freeReadPerDayByAddress),
      charged_by: 'X-Accept-Charge',
      price_usd: READ_PRICE.usd,
      unit: 'read',
      pay_by: [...READ_PRICE.schemes, 'prepaid'],
    },
    compute: {
      unit: '1,000,000 tokens',
      price_usd:
        'what the provider charges, to the nano-USDC: GET /v1/compute/models, svc.price_per_million_tokens',
      share_of_savings_pct: SPREAD_PERCENT,
      pay_by: ['prepaid', 'batch-settlement', 'upto'],
    },
    balance: {
      top_up_by: ['exact', 'transfer'],
      low_below_usd: formatUsdc(sales.lowBalance),
      withdrawal_min_usd: formatUsdc(sales.minWithdrawal),
    },
    payment: money && paymentMethods(config, money),
  };
}

function limit(perDay: number): number | null {
  return perDay === 0 ? null : perDay;
}

/** The verifier column of specification 2.10, and whether this service has it. */
const VERIFIERS = {
  free: { verifier: 'local only', available: true },
  pro: { verifier: 'priority hosted', available: true },
  scale: { verifier: 'dedicated SLA', available: true },
  // No image is published yet.
  enterprise: { verifier: 'on-premises image', available: false },
} as const;

function anchorTiers(sales: Config['sales'], freeMintPerDay: number) {
  const tiers = [
    {
      tier: 'free' as const,
      key_prefix: null,
      receipts: freeMintPerDay === 0 ? null : { count: freeMintPerDay, per: 'day' },
      anchored: 'none',
    },
    {
      tier: 'pro' as const,
      key_prefix: 'k_pro_',
      receipts: { count: 50_000, per: 'month' },
      anchored: 'on demand',
    },
    {
      tier: 'scale' as const,
      key_prefix: 'k_scale_',
      receipts: null,
      anchored: 'every receipt',
    },
    {
      tier: 'enterprise' as const,
      key_prefix: 'k_ent_',
      receipts: null,
      anchored: 'every receipt',
    },
  ];
  return tiers.map((one) => {
    const { verifier, available } = VERIFIERS[one.tier];
    return { ...one, verifier, verifier_available: available, ...tierPrice(one.tier, sales) };
  });
}

/** Null where no payment buys the tier, because it is free or sold by contract. */
function tierPrice(tier: string, { prices }: Config['sales']) {
  const sold: SoldTier | undefined = SOLD_TIERS.find((one) => one === tier);
  if (sold === undefined) return { monthly_usd: tier === 'free' ? '0' : null, annual_usd: null, pay_by: [] };
  return {
    monthly_usd: formatUsdc(priceOf(prices, sold, 1)),
    annual_usd: formatUsdc(priceOf(prices, sold, 12)),
    pay_by: ['exact', 'transfer'],
  };
}

/** How money comes in: by x402 with a request, or by a transfer on the chain. */
function paymentMethods({ chain }: Settings, { token, treasury }: Money): JsonObject {
  return {
    network: token.network,
    chain_id: chain.id,
    asset: 'USDC',
    token: token.usdc,
    decimals: 6,
    treasury,
    confirmations: token.confirmations,
    methods: {
      exact: {
        protocol: 'x402',
        version: 2,
        what: 'EIP-3009: the price is transferred on the chain with the request',
      },
      'batch-settlement': { protocol: 'x402', version: 2, what: 'one deposit, then a voucher per request' },
      upto: { protocol: 'x402', version: 2, what: 'Permit2: up to a maximum amount, for one large call' },
      prepaid: {
        what: 'a balance, spent with an API key or a signed DID',
        balance: 'GET /v1/balance',
        top_up: 'POST /v1/balance/topup',
      },
      transfer: {
        what: 'a transfer of USDC to the treasury, with a memo appended to its calldata or of a quoted amount',
        memo: {
          encoding: 'UTF-8: a JSON object, or key=value pairs',
          key: 'tier=<pro|scale> contact=<e-mail|domain> issuer_did=<DID, optional>',
          renewal: 'key=<key id>',
          top_up: 'account=<key id|DID>',
        },
        quotes: { key: 'POST /v1/anchor/keys/quote', top_up: 'POST /v1/balance/quote' },
      },
    },
  };
}
