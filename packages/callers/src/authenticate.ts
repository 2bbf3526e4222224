import type { OwnIssuer } from '@tallystick/issuers';
import { type Received, Refusal } from '@tallystick/kit';
import {
  apiKeyHasher,
  GRANTS,
  type Grant,
  isApiKey,
  isTier,
  looksLikeApiKey,
  looksLikeTenantKey,
  type Tier,
} from './api-key.ts';
import type { ApiKeyStore } from './api-key-store.ts';

/** A key of a tier that is known and not revoked. */
export interface ApiKey {
  /** Its public name. */
  readonly id: string;
  readonly tier: Tier;
}

/** A partner's key that is known and not revoked: by its public name. */
type PartnerKey = Pick<ApiKey, 'id'>;

/** Who may anchor, and who may use the pilots. Every request is looked up, so that a revocation holds from the next one on. */
export interface ApiKeys {
  /**
   * The key of `Authorization: Bearer`, or null where the request carries none.
   * @throws api_key_invalid (of a partner's key too: it has no tier), api_key_revoked, api_key_expired, with
   * `WWW-Authenticate`
   */
  find(received: Received): Promise<ApiKey | null>;
  /**
   * As `find`, of `x-api-key` too, where some clients of models put it.
   * @param ignoreStrangers passes over a credential that doesn't begin like a key of this service
   */
  findAny(received: Received, options: { readonly ignoreStrangers: boolean }): Promise<ApiKey | null>;
  /** As `find`. @throws api_key_missing too */
  require(received: Received): Promise<ApiKey>;
  /**
   * The partner's key of `Authorization: Bearer`.
   * @throws api_key_missing, api_key_invalid, api_key_revoked; partner_only for a key of a tier; with `WWW-Authenticate`
   */
  requirePartner(received: Received): Promise<PartnerKey>;
  /**
   * The tenant's key of `Authorization: Bearer`, or null where it carries none or something else.
   * @throws api_key_invalid, api_key_revoked, with `WWW-Authenticate`
   */
  findTenant(received: Received): Promise<TenantKey | null>;
  /** As `findTenant`. @throws api_key_missing too; api_key_invalid for a key of a tier or a partner's */
  requireTenant(received: Received): Promise<TenantKey>;
}

/** What a tenant's key shares with all others. */
type TenantKey = Pick<ApiKey, 'id'>;

/** The codes that `ApiKeys.require` throws, for the endpoints that use it. */
export const API_KEY_ERRORS = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
] as const;

/** The codes that `ApiKeys.requirePartner` throws. */
export const PARTNER_ERRORS = [...API_KEY_ERRORS, 'partner_only'] as const;

/** The request header of a pilot, for the reference. */
export const PARTNER_HEADERS = {
  Authorization: 'Required: `Bearer` and a partner key, `k_par_…`.',
};

/** @param clock Unix milliseconds */
export function createApiKeys(
  store: { readonly apiKeys: ApiKeyStore },
  issuer: Pick<OwnIssuer, 'keyring'>,
  clock: () => number,
): ApiKeys {
  const hash = hasherOf(issuer);
  const lookUp = async (text: string): Promise<{ id: string; grant: Grant }> => {
    if (!isApiKey(text)) {
      throw invalid(
        'api_key_invalid',
        'An API key is k_pro_, k_scale_, k_ent_, k_par_ or k_ten_ followed by 32 letters and digits; the key sent does not have this form.',
      );
    }
    const hashed = hash(text);
    const row = hashed === null ? null : await store.apiKeys.find(hashed);
    const grant = GRANTS.find((known) => known === row?.tier);
    if (row === null || grant === undefined) {
      throw invalid('api_key_invalid', 'This service does not know the API key. Check that it is complete.');
    }
    if (row.revokedAt !== null) {
      throw invalid('api_key_revoked', `The API key ${row.id} was revoked. Ask the operator for another.`);
    }
    if (row.expiresAt !== null && row.expiresAt <= clock() / 1000) {
      throw invalid(
        'api_key_expired',
        `The paid period of the API key ${row.id} has ended. Renew it: POST /v1/anchor/keys/quote with renew.`,
      );
    }
    return { id: row.id, grant };
  };
  const withTier = async (text: string): Promise<ApiKey> => {
    const { id, grant } = await lookUp(text);
    if (isTier(grant)) return { id, tier: grant };
    throw invalid(
      'api_key_invalid',
      grant === 'partner'
        ? `${id} is a partner key: it opens the pilots, and can neither anchor nor pay.`
        : `${id} is a tenant key: it opens /tenants/{id}/ only, and can neither anchor nor pay.`,
    );
  };
  const findTenant: ApiKeys['findTenant'] = async (received) => {
    const text = bearerOf(received.incoming.header('authorization'));
    if (text === null || !looksLikeTenantKey(text)) return null;
    const { id } = await lookUp(text);
    return { id };
  };
  const find: ApiKeys['find'] = async (received) => {
    const text = bearerOf(received.incoming.header('authorization'));
    return text === null ? null : withTier(text);
  };
  return {
    find,
    findTenant,
    async requireTenant(received) {
      const key = await findTenant(received);
      if (key !== null) return key;
      if (bearerOf(received.incoming.header('authorization')) === null) throw missingTenantKey();
      throw invalid('api_key_invalid', 'This needs a tenant key, k_ten_…; the API key sent is not one.');
    },
    async findAny(received, { ignoreStrangers }) {
      const { incoming } = received;
      const given = [bearerOf(incoming.header('authorization')), incoming.header('x-api-key') ?? null];
      const text = given.find((one) => one !== null && (!ignoreStrangers || looksLikeApiKey(one))) ?? null;
      return text === null ? null : withTier(text);
    },
    async require(received) {
      const key = await find(received);
      if (key === null) throw missingKey();
      return key;
    },
    async requirePartner(received) {
      const text = bearerOf(received.incoming.header('authorization'));
      if (text === null) throw missingPartnerKey();
      const { id, grant } = await lookUp(text);
      if (grant === 'partner') return { id };
      throw new Refusal(
        'partner_only',
        `This pilot is open to partners only, and ${id} is not a partner key. The operator makes one with: tally apikey create --scope partner`,
        { bearer: 'insufficient_scope' },
      );
    },
  };
}

type RefusalCode = Exclude<(typeof API_KEY_ERRORS)[number], 'api_key_missing'>;

/** Hashes under the keyring's present secret; null where it has none. */
function hasherOf(issuer: Pick<OwnIssuer, 'keyring'>): (key: string) => string | null {
  let secret: Uint8Array | null = null;
  let hasher: ReturnType<typeof apiKeyHasher> | null = null;
  return (key) => {
    const { apiKeySecret } = issuer.keyring;
    if (apiKeySecret !== secret) {
      secret = apiKeySecret;
      hasher = secret && apiKeyHasher(secret);
    }
    return hasher && hasher(key);
  };
}

function invalid(code: RefusalCode, message: string): Refusal {
  return new Refusal(code, message, { bearer: 'invalid_token' });
}

/** The refusal of a request that needs a key and carries none (RFC 9110, section 11.6.1). */
export function missingKey(field?: string): Refusal {
  return missing('Anchoring needs an API key: send it as Authorization: Bearer k_….', field);
}

function missingPartnerKey(): Refusal {
  return missing('This pilot needs a partner key: send it as Authorization: Bearer k_par_….');
}

function missingTenantKey(): Refusal {
  return missing('This needs a tenant key: send it as Authorization: Bearer k_ten_….');
}

function missing(message: string, field?: string): Refusal {
  return new Refusal('api_key_missing', message, { field, bearer: 'missing' });
}

/** The credential of the Bearer scheme (RFC 6750, section 2.1); null for no header, or another scheme. */
function bearerOf(authorization: string | undefined): string | null {
  const match = /^bearer(?: +(.*))?$/i.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '');
}
