import { randomUUID } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import type { NanoUsdc } from '@tallystick/ledger';
import type { OrderRow, TreasuryStore } from '../treasury-store.ts';
import { isSoldTier, type Months, monthsAfter, priceOf, type SoldTier, type TierPrices } from './prices.ts';
import { newSeed, soldKey, soldKeyRow } from './sold-key.ts';

/** Seconds for which a key can be returned again after its answer, as with an `Idempotency-Key`. */
const REPEAT_SECONDS = 72 * 60 * 60;

/** A payment that is made and posted. */
interface Payment {
  /** Names the payment; of x402, its payment identifier. The same reference again is the same order. */
  readonly reference: string;
}

interface PaidKeyRequest {
  readonly tier: SoldTier;
  readonly months: Months;
  readonly contact: string | null;
  readonly did: string | null;
  readonly payment: Payment;
}

interface PaidKey {
  readonly order: string;
  /** The key's public id. */
  readonly id: string;
  /** Null where it was issued more than 72 hours ago. */
  readonly key: string | null;
  readonly tier: SoldTier;
  /** Unix seconds. */
  readonly paidUntil: number;
}

export interface KeySales {
  /** By the prices of now. */
  priceOf(tier: SoldTier, months: Months): NanoUsdc;
  /**
   * Issues a paid key, to be shown to the payer alone. The same payment again returns the same key.
   * @throws unavailable where the keyring has no secret for keys
   */
  issuePaidKey(request: PaidKeyRequest): Promise<PaidKey>;
}

interface KeyIssueDependencies {
  readonly store: { readonly treasury: TreasuryStore };
  readonly issuer: Pick<OwnIssuer, 'keyring'>;
  /** What is asked now. */
  readonly prices: () => TierPrices;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

export function createKeySales({ store, issuer, prices, clock }: KeyIssueDependencies): KeySales {
  return {
    priceOf: (tier, months) => priceOf(prices(), tier, months),
    async issuePaidKey({ tier, months, contact, did, payment }) {
      const secret = requireKeySecret(issuer);
      const now = Math.floor(clock() / 1000);
      const seed = newSeed();
      const id = newOrderId();
      const paidUntil = monthsAfter(now, months);
      const row = soldKeyRow(secret, { id, tier, seed }, { createdAt: now, expiresAt: paidUntil });
      const order = await store.treasury.issueOrder(
        {
          ...newOrder({ id, kind: 'key', state: 'done', createdAt: now }),
          tier,
          months,
          contact,
          did,
          payment: payment.reference,
          apiKey: row.id,
          paidUntil,
          seed,
          dueAt: now + REPEAT_SECONDS,
          deliveredAt: now,
        },
        row,
      );
      return paidKeyOf(order, secret);
    },
  };
}

function paidKeyOf({ id, tier, apiKey, paidUntil, seed }: OrderRow, secret: Uint8Array): PaidKey {
  if (tier === null || !isSoldTier(tier) || apiKey === null || paidUntil === null)
    throw new RangeError(`The order ${id} is not for a key.`);
  return { order: id, id: apiKey, key: seed === null ? null : soldKey(secret, tier, seed), tier, paidUntil };
}

export function newOrderId(): string {
  return `ord_${randomUUID().replaceAll('-', '')}`;
}

/** An order without any details yet. */
export function newOrder(order: Pick<OrderRow, 'id' | 'kind' | 'state' | 'createdAt'>): OrderRow {
  return {
    tier: null,
    months: 0,
    contact: null,
    did: null,
    account: null,
    amount: null,
    payment: null,
    expiresAt: null,
    apiKey: null,
    paidUntil: null,
    seed: null,
    sealed: null,
    attempts: 0,
    dueAt: null,
    problem: null,
    deliveredAt: null,
    ...order,
  };
}

/** The keyring's secret for API keys. @throws unavailable where the keyring is older than API keys */
export function requireKeySecret({ keyring }: Pick<OwnIssuer, 'keyring'>): Uint8Array {
  if (keyring.apiKeySecret !== null) return keyring.apiKeySecret;
  throw new TallyError(
    'unavailable',
    'The keyring has no secret for API keys, so none can be sold. Make a first key with: tally apikey create',
  );
}
