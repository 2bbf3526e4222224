import { canonicalize, formatTimestamp, type JsonValue, TallyError } from '@tallystick/core';
import { apiKeyHasher, type Grant, isApiKeyId, newApiKey, newApiKeyId } from './api-key.ts';
import { type ApiKeyRow, type ApiKeyStore, UNCHANGED_KEY } from './api-key-store.ts';
import { accountOfKey } from './key-account.ts';
import { type Limits, limitsFrom, mergedLimits } from './limits.ts';
import { keyRevoked } from './webhooks/events.ts';
import type { WebhookStore } from './webhooks/webhook-store.ts';

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
  /** How its calls are routed where they do not say it themselves; null where nothing was set. */
  readonly routing: JsonValue;
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
  const row = {
    id: newApiKeyId(),
    hash,
    tier,
    label,
    createdAt,
    ...UNCHANGED_KEY,
  };
  return { row, key };
}

/** All keys, revoked ones too, oldest first. */
export async function* listApiKeys({ apiKeys }: Keys): AsyncGenerator<ApiKeyListing, void, undefined> {
  for await (const row of apiKeys.list()) yield listing(row);
}

/**
 * Revokes a key by its id, from the next request on, and tells the webhooks of the account that it pays from. A key that is revoked
 * already stays as it is.
 * @param now Unix milliseconds
 * @throws api_key_invalid where there is no key of that id
 */
export async function revokeApiKey(
  { apiKeys, webhooks }: Keys & { readonly webhooks: Pick<WebhookStore, 'emit'> },
  id: string,
  now: number,
): Promise<void> {
  const at = Math.floor(now / 1000);
  const row = await apiKeys.get(id);
  if (row === null) throw unknownKey(id);
  await apiKeys.revoke(id, at);
  await webhooks.emit(keyRevoked(id, at), accountOfKey(row));
}

/**
 * Sets how a key's calls are routed where they do not say it themselves: from the next request on.
 * @param routing members of a call, checked before; null for none
 * @throws api_key_invalid where there is no key of that id
 */
export async function setKeyRouting({ apiKeys }: Keys, id: string, routing: JsonValue): Promise<void> {
  const text = routing === null ? null : canonicalize(routing);
  if (!(await apiKeys.setRouting(id, text))) throw unknownKey(id);
}

/** The limits of a key, or of a DID's account. @throws api_key_invalid where there is no key of that id */
export async function keyLimits({ apiKeys }: Keys, who: string): Promise<Limits> {
  if (!isApiKeyId(who)) return limitsFrom(await apiKeys.limitsOf(who));
  const row = await apiKeys.get(who);
  if (row === null) throw unknownKey(who);
  return limitsFrom(row.limits);
}

/**
 * Replaces limits of a key and of those that it makes, or of all that a DID's account pays: from the next request on.
 * @param limits members that were checked before; those that are absent stay, and null takes one, or all, away
 * @returns the limits as they are then
 * @throws api_key_invalid where there is no key of that id
 */
export async function setKeyLimits({ apiKeys }: Keys, who: string, limits: Limits | null): Promise<Limits> {
  if (!isApiKeyId(who))
    return limitsFrom(await apiKeys.changeLimitsOf(who, (present) => mergedLimits(present, limits)));
  const row = await apiKeys.change(who, (present) => ({ limits: mergedLimits(present.limits, limits) }));
  if (row === null) throw unknownKey(who);
  return limitsFrom(row.limits);
}

/**
 * Who pays for what is done with a key, as a key's id or a DID: its owner, or itself where nobody's account made it.
 * @throws api_key_invalid, api_key_revoked unless there is a key of that id that is not revoked
 */
export async function payerOf({ apiKeys }: Keys, id: string): Promise<string> {
  const row = await apiKeys.get(id);
  if (row === null) throw unknownKey(id);
  if (row.revokedAt !== null)
    throw new TallyError('api_key_revoked', `The API key ${id} is revoked: nobody can spend with it.`, {
      field: 'id',
    });
  return row.owner ?? id;
}

function unknownKey(id: string): TallyError {
  return new TallyError('api_key_invalid', `There is no API key with the id ${id}.`, { field: 'id' });
}

function listing({ id, tier, label, createdAt, revokedAt, expiresAt, routing }: ApiKeyRow): ApiKeyListing {
  return {
    id,
    tier,
    label,
    created_at: formatTimestamp(createdAt * 1000),
    revoked_at: revokedAt === null ? null : formatTimestamp(revokedAt * 1000),
    expires_at: expiresAt === null ? null : formatTimestamp(expiresAt * 1000),
    routing: routing === null ? null : (JSON.parse(routing) as JsonValue),
  };
}
