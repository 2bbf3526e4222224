import { TallyError } from '@tallystick/core';
import { header } from '../http/context.ts';
import type { Exchange } from '../http/exchange.ts';
import type { OwnIssuer } from '../issuers/own-issuer.ts';
import type { Store } from '../store/store.ts';
import { apiKeyHasher, isApiKey, looksLikeApiKey, TIERS, type Tier } from './api-key.ts';

/** A key that is known and not revoked. */
export interface ApiKey {
  /** Its public name. */
  readonly id: string;
  readonly tier: Tier;
}

/** Who may anchor. Every request is looked up, so that a revocation holds from the next one on. */
export interface ApiKeys {
  /**
   * The key of `Authorization: Bearer`, or null where the request carries none.
   * @throws api_key_invalid, api_key_revoked, api_key_expired, with `WWW-Authenticate`
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
}

/** The codes that `ApiKeys.require` throws, for the endpoints that use it. */
export const API_KEY_ERRORS = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
] as const;

/** @param clock Unix milliseconds */
export function createApiKeys(
  store: Pick<Store, 'apiKeys'>,
  issuer: Pick<OwnIssuer, 'keyring'>,
  clock: () => number,
): ApiKeys {
  const hash = hasherOf(issuer);
  const lookUp = async (text: string, { headers }: Pick<Exchange, 'headers'>): Promise<ApiKey> => {
    const refusal = (code: RefusalCode, message: string): TallyError => {
      headers['www-authenticate'] = 'Bearer error="invalid_token"';
      return new TallyError(code, message);
    };
    if (!isApiKey(text)) {
      throw refusal(
        'api_key_invalid',
        'An API key is k_pro_, k_scale_ or k_ent_ and 32 letters and digits; the one that was sent is not.',
      );
    }
    const hashed = hash(text);
    const row = hashed === null ? null : await store.apiKeys.find(hashed);
    const tier = TIERS.find((known) => known === row?.tier);
    if (row === null || tier === undefined) {
      throw refusal('api_key_invalid', 'The API key is not known here. Check that it is complete.');
    }
    if (row.revokedAt !== null) {
      throw refusal('api_key_revoked', `The API key ${row.id} was revoked. Ask the operator for another.`);
    }
    if (row.expiresAt !== null && row.expiresAt <= clock() / 1000) {
      throw refusal(
        'api_key_expired',
        `The time that the API key ${row.id} was paid for is over. Renew it: POST /v1/anchor/keys/quote with renew.`,
      );
    }
    return { id: row.id, tier };
  };
  const find: ApiKeys['find'] = async (exchange) => {
    const text = bearerOf(header(exchange.c, 'authorization'));
    return text === null ? null : lookUp(text, exchange);
  };
  return {
    find,
    async findAny(exchange, { ignoreStrangers }) {
      const { c } = exchange;
      const given = [bearerOf(header(c, 'authorization')), header(c, 'x-api-key') ?? null];
      const text = given.find((one) => one !== null && (!ignoreStrangers || looksLikeApiKey(one))) ?? null;
      return text === null ? null : lookUp(text, exchange);
    },
    async require(exchange) {
      const key = await find(exchange);
      if (key === null) throw missingKey(exchange);
      return key;
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

/** The credential of the Bearer scheme (RFC 6750, section 2.1); null for no header, or another scheme. */
function bearerOf(authorization: string | undefined): string | null {
  const match = /^bearer(?: +(.*))?$/i.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '');
}
