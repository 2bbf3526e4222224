import { isDid } from '@tallystick/core';
import { callerAccount, isDidOfSomebody } from '@tallystick/ledger';
import { TIERS } from './api-key.ts';
import type { ApiKeyRow, ApiKeyStore } from './api-key-store.ts';

/** The ledger account that pays for a key's calls: its owner's, or its own where nobody's account made it. */
export function accountOfKey({ id, owner }: Pick<ApiKeyRow, 'id' | 'owner'>): string {
  return callerAccount(owner ?? id);
}

const PAYING = new Set<string>([...TIERS, 'calls']);

/**
 * The account to credit where money comes in for a DID, or for a key by its id; null where nobody could spend it: for a
 * DID that nobody can prove, for a key that is unknown, revoked or of an owner whose key is revoked, and for one that
 * pays for nothing.
 */
export async function accountToCredit(
  apiKeys: Pick<ApiKeyStore, 'get'>,
  keyIdOrDid: string,
): Promise<string | null> {
  if (isDid(keyIdOrDid)) return isDidOfSomebody(keyIdOrDid) ? callerAccount(keyIdOrDid) : null;
  const row = await apiKeys.get(keyIdOrDid);
  if (row === null || row.revokedAt !== null || !PAYING.has(row.tier)) return null;
  // An owner that is no key is a DID.
  const owner = row.owner === null ? null : await apiKeys.get(row.owner);
  return (owner?.revokedAt ?? null) === null ? accountOfKey(row) : null;
}
