import { createHmac, randomBytes } from 'node:crypto';
import type { ApiKeyRow } from '@tallystick/callers';
import { apiKeyFrom, apiKeyHasher, newApiKeyId, UNCHANGED_KEY } from '@tallystick/callers';
import type { SoldTier } from './prices.ts';

/** A new seed: hex of 32 random bytes, stored with the order until its key is delivered. */
export function newSeed(): string {
  return randomBytes(32).toString('hex');
}

/**
 * The key of an order. It is stored nowhere: it follows from the keyring's secret and the order's seed, neither of
 * which reveals it alone. So a delivery can be repeated after a crash, until the seed is deleted.
 */
export function soldKey(secret: Uint8Array, tier: SoldTier, seed: string): string {
  return apiKeyFrom(tier, (counter) =>
    createHmac('sha256', secret).update(`svc-sold-key-v1:${tier}:${seed}:${counter}`).digest(),
  );
}

/** The row of a sold key in the store. Times are unix seconds. */
export function soldKeyRow(
  secret: Uint8Array,
  order: { readonly id: string; readonly tier: SoldTier; readonly seed: string },
  { createdAt, expiresAt }: { readonly createdAt: number; readonly expiresAt: number },
): ApiKeyRow {
  return {
    id: newApiKeyId(),
    hash: apiKeyHasher(secret)(soldKey(secret, order.tier, order.seed)),
    tier: order.tier,
    label: `order ${order.id}`,
    createdAt,
    ...UNCHANGED_KEY,
    expiresAt,
  };
}
