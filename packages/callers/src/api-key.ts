import { createHmac, createSecretKey, hash, randomInt } from 'node:crypto';

/** Specification 2.10, without the free tier, which has no keys. */
export const TIERS = ['pro', 'scale', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** What a key without a tier opens: the pilots, the room of one tenant, or the calls that a DID's account pays. */
const SCOPES = ['partner', 'tenant', 'calls'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a key is for. A key has a tier or a scope, never both. */
export type Grant = Tier | Scope;
export const GRANTS: readonly Grant[] = [...TIERS, ...SCOPES];

const PREFIX = {
  pro: 'k_pro_',
  scale: 'k_scale_',
  enterprise: 'k_ent_',
  partner: 'k_par_',
  tenant: 'k_ten_',
  calls: 'k_call_',
} as const satisfies Record<Grant, string>;
const OPERATOR_PREFIX = 'k_op_';
const API_KEY = /^k_(?:pro|scale|ent|par|ten|call)_[0-9A-Za-z]{32}$/;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE36 = BASE62.slice(0, 10) + BASE62.slice(36);

/** A fresh key: the prefix of its tier or scope and 32 random base62 characters, 190 bits. */
export function newApiKey(grant: Grant): string {
  return PREFIX[grant] + randomText(BASE62, 32);
}

export function isTier(grant: Grant): grant is Tier {
  return TIERS.some((tier) => tier === grant);
}

/** A fresh id of a tenant: `t_` and 16 random base36 characters, 82 bits. */
export function newTenantId(): string {
  return `t_${randomText(BASE36, 16)}`;
}

/** A key of a tier whose characters follow from bytes; `bytesOf` gives more of them at each count, from 0. */
export function apiKeyFrom(tier: Tier, bytesOf: (counter: number) => Uint8Array): string {
  let text = '';
  for (let counter = 0; text.length < 32; counter += 1) {
    // Bytes past the last multiple of 62 would favour the first characters.
    const fair = bytesOf(counter).filter((byte) => byte < 248);
    text += Array.from(fair, (byte) => BASE62.charAt(byte % 62)).join('');
  }
  return PREFIX[tier] + text.slice(0, 32);
}

/** A fresh public name of a key: `key_` and 16 random base36 characters. */
export function newApiKeyId(): string {
  return `key_${randomText(BASE36, 16)}`;
}

/** A fresh key of an operator: `k_op_` and 32 random base62 characters. */
export function newOperatorKey(): string {
  return OPERATOR_PREFIX + randomText(BASE62, 32);
}

/** A fresh public name of an operator's key: `opk_` and 16 random base36 characters. */
export function newOperatorKeyId(): string {
  return `opk_${randomText(BASE36, 16)}`;
}

/** Whether the text has the form of a key's public name. */
export function isApiKeyId(text: string): boolean {
  return /^key_[0-9a-z]{16}$/.test(text);
}

/** Whether the text has the form of a key. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** Whether the text begins like a key of this service, so that it was meant as one. */
export function looksLikeApiKey(text: string): boolean {
  return [OPERATOR_PREFIX, ...Object.values(PREFIX)].some((prefix) => text.startsWith(prefix));
}

/** Whether the text begins like a key of an operator. */
export function looksLikeOperatorKey(text: string): boolean {
  return text.startsWith(OPERATOR_PREFIX);
}

/** Whether the text begins like a tenant's key. */
export function looksLikeTenantKey(text: string): boolean {
  return text.startsWith(PREFIX.tenant);
}

/** Keys whose hashes are remembered. */
const MOST_REMEMBERED = 10_000;

/**
 * What is kept of a key: HMAC-SHA256 under the keyring's secret (32 bytes), as hex. The secret is prepared once, which
 * takes several times as long as the hash. A key's hash is remembered under the key's SHA-256, which is faster to make, so
 * that no key itself stays in memory.
 */
export function apiKeyHasher(secret: Uint8Array): (key: string) => string {
  const prepared = createSecretKey(secret);
  const remembered = new Map<string, string>();
  return (key) => {
    const place = hash('sha256', key);
    const known = remembered.get(place);
    if (known !== undefined) return known;
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    const hashed = createHmac('sha256', prepared).update(key).digest('hex');
    remembered.set(place, hashed);
    return hashed;
  };
}

function randomText(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}
