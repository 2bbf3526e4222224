import { callerAccount } from '@tallystick/ledger';
import { TIERS } from './api-key.ts';
import type { ApiKeyRow, ApiKeyStore } from './api-key-store.ts';

/** The ledger account that pays for a key's calls: its owner's, or its own where nobody's account made it. */
export function accountOfKey({ id, owner }: Pick<ApiKeyRow, 'id' | 'owner'>): string {
  return callerAccount(owner ?? id);
}

const PAYING = new Set<string>([...TIERS, 'calls']);

/**
 * The account to credit where money comes in for a key, by the key's id; null where no call could spend it: for a key
 * that is unknown, revoked or of an owner whose key is revoked, and for one that pays for nothing.
 */
export async function accountToCredit(
  apiKeys: Pick<ApiKeyStore, 'get'>,
  keyId: string,
): Promise<string | null> {
  const row = await apiKeys.get(keyId);
  if (row === null || row.revokedAt !== null || !PAYING.has(row.tier)) return null;
  // An owner that is no key is a DID.
  const owner = row.owner === null ? null : await apiKeys.get(row.owner);
  return (owner?.revokedAt ?? null) === null ? accountOfKey(row) : null;
}
