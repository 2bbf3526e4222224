import { TallyError } from '@tallystick/core';
import type { OwnIssuer } from '@tallystick/issuers';
import { type Received, Refusal } from '@tallystick/kit';
import {
  apiKeyHasher,
  GRANTS,
  type Grant,
  isApiKey,
  isApiKeyId,
  isTier,
  looksLikeApiKey,
  looksLikeTenantKey,
  type Tier,
} from './api-key.ts';
import type { ApiKeyRow, ApiKeyStore } from './api-key-store.ts';
import type { ClientAddresses } from './clients.ts';
import type { TenantStore } from './tenant-store.ts';

/** No key. What a request without one uses of free limits is counted for its address group. */
interface NoKey {
  readonly kind: 'none';
  readonly group: string;
}

/** What keys that pay for calls have in common. */
interface Paying extends Pick<ApiKeyRow, 'id' | 'routing' | 'limits'> {
  /** Id of the API key, or the DID, whose account pays; the key's own id where it has an account of its own. */
  readonly owner: string;
  /** JSON: limits of all that the owner's account pays; null where there are none, or where the key is the owner. */
  readonly ownerLimits: string | null;
  /** Whether it may make and change keys of its account. */
  readonly manages: boolean;
  /** Whether its calls ask to have prompt and answer kept where they do not say it themselves. */
  readonly keep: boolean;
}

/** A key of a tier. `id` is its public name, as with the other kinds. */
export interface ApiKey extends Paying {
  readonly kind: 'apiKey';
  readonly tier: Tier;
}

/** A key that a DID made: it pays for calls, and can't anchor. */
export interface CallsKey extends Paying {
  readonly kind: 'callsKey';
  readonly tier: null;
}

/** A key with which models are called. */
export type PayingKey = ApiKey | CallsKey;

interface PartnerKey {
  readonly kind: 'partnerKey';
  readonly id: string;
}

interface TenantKey {
  readonly kind: 'tenantKey';
  readonly id: string;
  /** The id of its tenant, which follows from the key alone. */
  readonly tenant: string;
}

/** What `Authorization: Bearer` of a request shows: nothing, or a key that is known, not revoked and not expired. */
export type Credential = NoKey | ApiKey | CallsKey | PartnerKey | TenantKey;

/** A credential of one of these kinds. */
export type CredentialOf<Kind> = Extract<Credential, { readonly kind: Kind }>;

type KeyKind = Exclude<Credential, NoKey>['kind'];

/** The codes with which a request for an API key is refused. */
export const API_KEY_ERRORS = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
] as const;

/** The codes with which a request for a partner key is refused. */
export const PARTNER_ERRORS = [...API_KEY_ERRORS, 'partner_only'] as const;

/** The request header of a pilot, for the reference. */
export const PARTNER_HEADERS = { Authorization: 'Required: `Bearer` and a partner key, `k_par_…`.' };

/** The codes with which a request for the key of the tenant in its path is refused. */
export const TENANT_ERRORS = [...API_KEY_ERRORS, 'tenant_not_found'] as const;

/** The request header of a tenant's routes, for the reference. */
export const TENANT_HEADERS = { Authorization: 'Required: `Bearer` and a tenant key, `k_ten_…`.' };

/** For each kind, how a request that needs it is refused: without a key, and with a key of another kind. */
const REFUSALS: Readonly<
  Record<KeyKind, { readonly missing: string; readonly other: (id: string, grant: Grant) => Refusal }>
> = {
  apiKey: {
    missing: 'This needs an API key: send it as Authorization: Bearer k_….',
    other: (id, grant) => {
      if (grant === 'calls') return invalid(`${id} was made by a DID: it pays for calls, and can’t anchor.`);
      const opens = grant === 'partner' ? 'the pilots' : 'what is its tenant’s';
      return invalid(`${id} is a ${grant} key: it opens ${opens}, and can neither anchor nor pay.`);
    },
  },
  callsKey: {
    missing: 'This needs an API key: send it as Authorization: Bearer k_….',
    other: (id, grant) => invalid(`${id} is a ${grant} key, which can’t be used here.`),
  },
  partnerKey: {
    missing: 'This pilot needs a partner key: send it as Authorization: Bearer k_par_….',
    other: (id) =>
      new Refusal(
        'partner_only',
        `This pilot is open to partners only, and ${id} is not a partner key. The operator makes one with: tally apikey create --scope partner`,
        { bearer: 'insufficient_scope' },
      ),
  },
  tenantKey: {
    missing: 'This needs a tenant key: send it as Authorization: Bearer k_ten_….',
    other: () => invalid('This needs a tenant key, k_ten_…; the API key sent is not one.'),
  },
};

/** Kinds that an endpoint admits. Of one that it does not, a refusal says that the first is needed. */
type Kinds = readonly [first: KeyKind, ...others: Credential['kind'][]];

export interface CredentialDependencies {
  readonly store: { readonly apiKeys: ApiKeyStore; readonly tenants: Pick<TenantStore, 'ofKey'> };
  readonly issuer: Pick<OwnIssuer, 'keyring'>;
  readonly clients: Pick<ClientAddresses, 'group'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Tells the kinds of keys apart. Each request is looked up, in memory where `KeysInUse` allows it, so that a revocation
 * holds from the next one on; on PostgreSQL, for a revocation by another process, within a second.
 */
export interface Credentials {
  /**
   * For `admit` of an endpoint: what `Authorization: Bearer` shows, where it is of one of these kinds. Where the first is
   * `tenantKey`, whatever does not begin like a tenant key is refused unread, or counts as `none` where that is admitted.
   * @throws api_key_missing, api_key_invalid, api_key_revoked, api_key_expired; partner_only; with `WWW-Authenticate`
   */
  readonly admit: <First extends KeyKind, Other extends Credential['kind'] = never>(
    received: Received,
    first: First,
    ...others: Other[]
  ) => Promise<CredentialOf<First | Other>>;
  /**
   * The API key of a client of models, of which some send it in `x-api-key`; null where there is none.
   * @param ignoreStrangers passes over a credential that doesn't begin like a key of this service
   * @throws api_key_invalid, api_key_revoked, api_key_expired; with `WWW-Authenticate`
   */
  readonly keyOfClient: (
    received: Received,
    options: { readonly ignoreStrangers: boolean },
  ) => Promise<PayingKey | null>;
  /** The API key of an id, for calls that the operator makes with it. @throws api_key_invalid, api_key_revoked, api_key_expired */
  readonly keyNamed: (id: string) => Promise<PayingKey>;
  /** When keys were used since this was asked before, in unix seconds by their ids. */
  readonly takeUses: () => ReadonlyMap<string, number>;
}

export function createCredentials({ store, issuer, clients, clock }: CredentialDependencies): Credentials {
  const hash = hasherOf(issuer);
  let uses = new Map<string, number>();

  /** @throws api_key_invalid, api_key_revoked, api_key_expired */
  const lookUp = async ({ incoming }: Received, text: string): Promise<{ grant: Grant; row: ApiKeyRow }> => {
    if (!isApiKey(text)) {
      throw invalid(
        'An API key is k_pro_, k_scale_, k_ent_, k_call_, k_par_ or k_ten_ followed by 32 letters and digits; the key sent does not have this form.',
      );
    }
    const hashed = hash(text);
    const row = hashed === null ? null : await store.apiKeys.inUse.find(hashed);
    const grant = GRANTS.find((known) => known === row?.tier);
    if (row === null || grant === undefined) {
      throw invalid('This service does not know the API key. Check that it is complete.');
    }
    incoming.tell({ key: row.id });
    requireGood(row, hashed);
    uses.set(row.id, Math.floor(clock() / 1000));
    return { row, grant };
  };

  /** @throws api_key_revoked, api_key_expired */
  const requireGood = (row: ApiKeyRow, hashed: string | null): void => {
    if (row.revokedAt !== null) {
      throw invalid(`The API key ${row.id} was revoked. Ask the operator for another.`, 'api_key_revoked');
    }
    if (row.expiresAt !== null && row.expiresAt <= clock() / 1000) {
      throw invalid(
        row.owner === null
          ? `The paid period of the API key ${row.id} has ended. Renew it: POST /v1/anchor/keys/quote with renew.`
          : `The API key ${row.id} has expired. The owner of its account can set another end: PATCH /v1/keys/${row.id}.`,
        'api_key_expired',
      );
    }
    if (hashed !== null && row.hash !== hashed && (row.previousUntil ?? 0) <= clock() / 1000)
      throw invalid(`The API key ${row.id} was rotated, and this is the one before.`, 'api_key_revoked');
  };

  /** What a key of an account has of its owner. @throws as `requireGood`, of the owner */
  const paying = async ({ id, routing, limits, manages, keep, owner }: ApiKeyRow): Promise<Paying> => {
    const own = { id, routing, limits, manages: manages === 1, keep: keep === 1 };
    if (owner === null) return { ...own, owner: id, ownerLimits: null };
    if (!isApiKeyId(owner)) return { ...own, owner, ownerLimits: await store.apiKeys.inUse.limitsOf(owner) };
    const row = await store.apiKeys.inUse.get(owner);
    if (row === null) throw new RangeError(`The API key ${id} has an owner that is not stored.`);
    requireGood(row, null);
    return { ...own, owner, ownerLimits: row.limits };
  };

  const keyIn = async (received: Received, text: string, kinds: Kinds): Promise<Credential> => {
    const { row, grant } = await lookUp(received, text);
    const { id } = row;
    const kind = isTier(grant) ? 'apiKey' : (`${grant}Key` as const);
    if (!kinds.includes(kind)) throw REFUSALS[kinds[0]].other(id, grant);
    if (isTier(grant)) return { kind: 'apiKey', tier: grant, ...(await paying(row)) };
    if (grant === 'calls') return { kind: 'callsKey', tier: null, ...(await paying(row)) };
    if (grant === 'partner') return { kind: 'partnerKey', id };
    const tenant = await store.tenants.ofKey(id);
    if (tenant !== null) return { kind: 'tenantKey', id, tenant };
    throw new TallyError('api_key_invalid', `The API key ${id} belongs to no tenant.`);
  };

  const find = async (received: Received, ...kinds: Kinds): Promise<Credential> => {
    const { incoming } = received;
    const [first] = kinds;
    const text = bearerOf(incoming.header('authorization'));
    if (text !== null && (first !== 'tenantKey' || looksLikeTenantKey(text)))
      return keyIn(received, text, kinds);
    if (kinds.includes('none')) return { kind: 'none', group: clients.group(incoming) };
    throw text === null ? missing(first) : REFUSALS[first].other('', 'tenant');
  };

  return {
    takeUses() {
      const taken = uses;
      uses = new Map();
      return taken;
    },
    // `find` gives one of the kinds that it is asked for.
    admit: find as Credentials['admit'],
    async keyNamed(id) {
      const row = await store.apiKeys.inUse.get(id);
      if (row === null) throw invalid(`This service has no API key with the id ${id}.`);
      requireGood(row, null);
      const grant = GRANTS.find((known) => known === row.tier);
      if (grant !== undefined && isTier(grant))
        return { kind: 'apiKey', tier: grant, ...(await paying(row)) };
      if (grant === 'calls') return { kind: 'callsKey', tier: null, ...(await paying(row)) };
      throw invalid(`${id} is a ${row.tier} key, which pays for no calls.`);
    },
    async keyOfClient(received, { ignoreStrangers }) {
      const { incoming } = received;
      const given = [bearerOf(incoming.header('authorization')), incoming.header('x-api-key') ?? null];
      const text = given.find((one) => one !== null && (!ignoreStrangers || looksLikeApiKey(one))) ?? null;
      const key = text === null ? null : await keyIn(received, text, ['apiKey', 'callsKey']);
      return key?.kind === 'apiKey' || key?.kind === 'callsKey' ? key : null;
    },
  };
}

type InvalidKeyCode = Exclude<(typeof API_KEY_ERRORS)[number], 'api_key_missing'>;

/** Hashes under the keyring's present secret; null where it has none. */
export function hasherOf(issuer: Pick<OwnIssuer, 'keyring'>): (key: string) => string | null {
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

function invalid(message: string, code: InvalidKeyCode = 'api_key_invalid'): Refusal {
  return new Refusal(code, message, { bearer: 'invalid_token' });
}

/** The refusal of a request that needs a key and carries none (RFC 9110, section 11.6.1). */
function missing(kind: KeyKind, field?: string): Refusal {
  return new Refusal('api_key_missing', REFUSALS[kind].missing, { field, bearer: 'missing' });
}

/** The refusal to anchor without a key. */
export function missingKey(field: string): Refusal {
  return missing('apiKey', field);
}

/** The tenant of a tenant key; null for any other credential. */
export function tenantOf(credential: Credential): string | null {
  return credential.kind === 'tenantKey' ? credential.tenant : null;
}

/** @throws tenant_not_found for another id than that of the key's tenant, whether there is such a tenant or not */
export function requireTenant(key: CredentialOf<'tenantKey'>, id: string): CredentialOf<'tenantKey'> {
  if (key.tenant === id) return key;
  throw new TallyError('tenant_not_found', 'This API key does not belong to a tenant with that id.');
}

/** The credential of the Bearer scheme (RFC 6750, section 2.1); null for no header, or another scheme. */
export function bearerOf(authorization: string | undefined): string | null {
  const match = /^bearer(?: +(.*))?$/i.exec(authorization ?? '');
  return match === null ? null : (match[1] ?? '');
}
