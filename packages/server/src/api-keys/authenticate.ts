import { TallyError } from '@tallystick/core';
import { header } from '../http/context.ts';
import type { Exchange } from '../http/exchange.ts';
import type { OwnIssuer } from '../issuers/own-issuer.ts';
import type { Store } from '../store/store.ts';
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
  find(exchange: Pick<Exchange, 'c' | 'headers'>): Promise<ApiKey | null>;
  /**
   * As `find`, of `x-api-key` too, where some clients of models put it.
   * @param ignoreStrangers passes over a credential that doesn't begin like a key of this service
   */
  findAny(
    exchange: Pick<Exchange, 'c' | 'headers'>,
    options: { readonly ignoreStrangers: boolean },
  ): Promise<ApiKey | null>;
  /** As `find`. @throws api_key_missing too */
  require(exchange: Pick<Exchange, 'c' | 'headers'>): Promise<ApiKey>;
  /**
   * The partner's key of `Authorization: Bearer`.
   * @throws api_key_missing, api_key_invalid, api_key_revoked; partner_only for a key of a tier; with `WWW-Authenticate`
   */
  requirePartner(exchange: Pick<Exchange, 'c' | 'headers'>): Promise<PartnerKey>;
  /**
   * The tenant's key of `Authorization: Bearer`, or null where it carries none or something else.
   * @throws api_key_invalid, api_key_revoked, with `WWW-Authenticate`
   */
  findTenant(exchange: Pick<Exchange, 'c' | 'headers'>): Promise<TenantKey | null>;
  /** As `findTenant`. @throws api_key_missing too; api_key_invalid for a key of a tier or a partner's */
  requireTenant(exchange: Pick<Exchange, 'c' | 'headers'>): Promise<TenantKey>;
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
  store: Pick<Store, 'apiKeys'>,
  issuer: Pick<OwnIssuer, 'keyring'>,
  clock: () => number,
): ApiKeys {
  const hash = hasherOf(issuer);
  const lookUp = async (
    text: string,
    { headers }: Pick<Exchange, 'headers'>,
  ): Promise<{ id: string; grant: Grant }> => {
    const refusal = (code: RefusalCode, message: string): TallyError => {
      headers['www-authenticate'] = 'Bearer error="invalid_token"';
      return new TallyError(code, message);
    };
    if (!isApiKey(text)) {
      throw refusal(
        'api_key_invalid',
        'An API key is k_pro_, k_scale_, k_ent_, k_par_ or k_ten_ followed by 32 letters and digits; the key sent does not have this form.',
      );
    }
    const hashed = hash(text);
    const row = hashed === null ? null : await store.apiKeys.find(hashed);
    const grant = GRANTS.find((known) => known === row?.tier);
    if (row === null || grant === undefined) {
      throw refusal('api_key_invalid', 'This service does not know the API key. Check that it is complete.');
    }
    if (row.revokedAt !== null) {
      throw refusal('api_key_revoked', `The API key ${row.id} was revoked. Ask the operator for another.`);
    }
    if (row.expiresAt !== null && row.expiresAt <= clock() / 1000) {
      throw refusal(
        'api_key_expired',
        `The paid period of the API key ${row.id} has ended. Renew it: POST /v1/anchor/keys/quote with renew.`,
      );
    }
    return { id: row.id, grant };
  };
  const withTier = async (text: string, exchange: Pick<Exchange, 'headers'>): Promise<ApiKey> => {
    const { id, grant } = await lookUp(text, exchange);
    if (isTier(grant)) return { id, tier: grant };
    exchange.headers['www-authenticate'] = 'Bearer error="invalid_token"';
    throw new TallyError(
      'api_key_invalid',
      grant === 'partner'
        ? `${id} is a partner key: it opens the pilots, and can neither anchor nor pay.`
        : `${id} is a tenant key: it opens /tenants/{id}/ only, and can neither anchor nor pay.`,
    );
  };
  const findTenant: ApiKeys['findTenant'] = async (exchange) => {
    const text = bearerOf(header(exchange.c, 'authorization'));
    if (text === null || !looksLikeTenantKey(text)) return null;
    const { id } = await lookUp(text, exchange);
    return { id };
  };
  const find: ApiKeys['find'] = async (exchange) => {
    const text = bearerOf(header(exchange.c, 'authorization'));
    return text === null ? null : withTier(text, exchange);
  };
  return {
    find,
    findTenant,
    async requireTenant(exchange) {
      const key = await findTenant(exchange);
      if (key !== null) return key;
      if (bearerOf(header(exchange.c, 'authorization')) === null) throw missingTenantKey(exchange);
      exchange.headers['www-authenticate'] = 'Bearer error="invalid_token"';
      throw new TallyError(
        'api_key_invalid',
        'This needs a tenant key, k_ten_…; the API key sent is not one.',
      );
    },
    async findAny(exchange, { ignoreStrangers }) {
      const { c } = exchange;
      const given = [bearerOf(header(c, 'authorization')), header(c, 'x-api-key') ?? null];
      const text = given.find((one) => one !== null && (!ignoreStrangers || looksLikeApiKey(one))) ?? null;
      return text === null ? null : withTier(text, exchange);
    },
    async require(exchange) {
      const key = await find(exchange);
      if (key === null) throw missingKey(exchange);
      return key;
    },
    async requirePartner(exchange) {
      const text = bearerOf(header(exchange.c, 'authorization'));
      if (text === null) throw missingPartnerKey(exchange);
      const { id, grant } = await lookUp(text, exchange);
      if (grant === 'partner') return { id };
      exchange.headers['www-authenticate'] = 'Bearer error="insufficient_scope"';
      throw new TallyError(
        'partner_only',
        `This pilot is open to partners only, and ${id} is not a partner key. The operator makes one with: tally apikey create --scope partner`,
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

/** The refusal of a request that needs a key and carries none. Sets `WWW-Authenticate` (RFC 9110, section 11.6.1). */
export function missingKey({ headers }: Pick<Exchange, 'headers'>, field?: string): TallyError {
  headers['www-authenticate'] = 'Bearer';
  return new TallyError(
    'api_key_missing',
    'Anchoring needs an API key: send it as Authorization: Bearer k_….',
    { field },
  );
}

function missingPartnerKey({ headers }: Pick<Exchange, 'headers'>): TallyError {
  headers['www-authenticate'] = 'Bearer';
  return new TallyError(
    'api_key_missing',
    'This pilot needs a partner key: send it as Authorization: Bearer k_par_….',
  );
}

function missingTenantKey({ headers }: Pick<Exchange, 'headers'>): TallyError {
  headers['www-authenticate'] = 'Bearer';
  return new TallyError(
    'api_key_missing',
    'This needs a tenant key: send it as Authorization: Bearer k_ten_….',
  );
}

/** The credential of the Bearer scheme (RFC 6750, section 2.1); null for no header, or another scheme. */
function bearerOf(authorization: string | undefined): string | null {
  const match = /^bearer(?: +(.*))?$/i.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '');
}
