import { formatTimestamp, TallyError } from '@tallystick/core';
import { apiKeyHasher, type Grant, newApiKey, newApiKeyId } from './api-key.ts';
import type { ApiKeyRow, ApiKeyStore } from './api-key-store.ts';

type Keys = { readonly apiKeys: ApiKeyStore };

/** A key as an operator sees it: never the key itself. */
export interface ApiKeyListing {
  readonly id: string;
  /** A tier, or the scope of a key that has none: `partner`. */
  readonly tier: string;
  readonly label: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
  /** Null where the key has no end. */
  readonly expires_at: string | null;
}

/**
 * Makes a key, which works at once on every server of the store. The key is shown here and never again.
 * @param secret the keyring's `apiKeySecret`
 * @param now Unix milliseconds
 */
export async function createApiKey(
  { apiKeys }: Keys,
  secret: Uint8Array,
  { tier, label, now }: { readonly tier: Grant; readonly label: string | null; readonly now: number },
): Promise<{ id: string; key: string }> {
  const { row, key } = newKey(secret, { tier, label, now });
  await apiKeys.put(row);
  return { id: row.id, key };
}

/** A fresh key, and what is kept of it. */
export function newKey(
  secret: Uint8Array,
  { tier, label, now }: { readonly tier: Grant; readonly label: string | null; readonly now: number },
): { readonly row: ApiKeyRow; readonly key: string } {
  const key = newApiKey(tier);
  const hash = apiKeyHasher(secret)(key);
  const createdAt = Math.floor(now / 1000);
  return { row: { id: newApiKeyId(), hash, tier, label, createdAt, revokedAt: null, expiresAt: null }, key };
}

/** All keys, revoked ones too, oldest first. */
export async function* listApiKeys({ apiKeys }: Keys): AsyncGenerator<ApiKeyListing, void, undefined> {
  for await (const row of apiKeys.list()) yield listing(row);
}

/**
 * Revokes a key by its id: from the next request on. A key that is revoked already stays as it is.
 * @param now Unix milliseconds
 * @throws api_key_invalid where there is no key of that id
 */
export async function revokeApiKey({ apiKeys }: Keys, id: string, now: number): Promise<void> {
  if ((await apiKeys.revoke(id, Math.floor(now / 1000))) === 'unknown') {
    throw new TallyError('api_key_invalid', `There is no API key with the id ${id}.`, { field: 'id' });
  }
}

function listing({ id, tier, label, createdAt, revokedAt, expiresAt }: ApiKeyRow): ApiKeyListing {
  return {
    id,
    tier,
    label,
    created_at: formatTimestamp(createdAt * 1000),
    revoked_at: revokedAt === null ? null : formatTimestamp(revokedAt * 1000),
    expires_at: expiresAt === null ? null : formatTimestamp(expiresAt * 1000),
  };
}
