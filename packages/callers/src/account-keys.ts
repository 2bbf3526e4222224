import { formatTimestamp, TallyError } from '@tallystick/core';
import { Refusal } from '@tallystick/kit';
import { callerAccount, formatUsdc, type LedgerStore } from '@tallystick/ledger';
import { apiKeyHasher, type Grant, newApiKey } from './api-key.ts';
import type { ApiKeyRow, ApiKeyStore } from './api-key-store.ts';
import type { Caller, Spender } from './callers.ts';
import { type Limits, limitsFrom, mergedLimits } from './limits.ts';
import { newKey } from './manage-api-keys.ts';
import { keyRevoked } from './webhooks/events.ts';
import type { WebhookStore } from './webhooks/webhook-store.ts';

/** The keys of one account, as its owner manages them. */
interface AccountKeys {
  readonly store: {
    readonly apiKeys: ApiKeyStore;
    readonly ledger: Pick<LedgerStore, 'spent'>;
    readonly webhooks: Pick<WebhookStore, 'emit'>;
  };
  /** Unix milliseconds. */
  readonly now: number;
}

/** What may be said of a key when it is made, and changed later. Absent members stay as they are. */
export interface KeyMembers {
  readonly name?: string | null | undefined;
  readonly expires_at?: string | null | undefined;
  /** Members that are absent stay as they are; null takes a limit, or all of them, away. */
  readonly limits?: Limits | null | undefined;
  readonly manages?: boolean | undefined;
  readonly keep?: boolean | undefined;
}

/** A key as its account's owner sees it: never the key itself. */
export interface KeyDocument {
  readonly id: string;
  readonly name: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly manages: boolean;
  /** Whether prompt and answer of its calls are to be kept where a call does not say it itself. */
  readonly keep: boolean;
  readonly limits: Limits;
  readonly spent: { readonly day_usdc: string; readonly month_usdc: string };
}

/** The owner of an account, and the tier of the keys that it can make; null for a DID, which has none. */
export interface Owner {
  readonly id: string;
  readonly tier: Grant | null;
}

/**
 * The owner whose keys the caller may manage.
 * @throws key_cannot_manage for a key without that right; api_key_missing for a caller without an account
 */
export function ownerOf({ key, did, proved }: Pick<Caller, 'key' | 'did' | 'proved'>): Owner {
  if (key !== null && key.manages) return { id: key.owner, tier: key.tier };
  if (key !== null)
    throw new TallyError(
      'key_cannot_manage',
      `${key.id} may not manage the keys of its account. Use a key that may (manages), or sign as the DID that owns the account.`,
    );
  if (proved && did !== null) return { id: did, tier: null };
  throw new Refusal(
    'api_key_missing',
    'Only the owner of an account manages its keys: send Authorization: Bearer k_…, or sign as its DID (RFC 9421; see spec/identity.md).',
    { bearer: 'missing' },
  );
}

/** A page of the keys of an account, newest first. */
export async function accountKeys(
  { store, now }: AccountKeys,
  { id }: Owner,
  page: Parameters<ApiKeyStore['ofOwner']>[1],
): Promise<{ readonly rows: readonly ApiKeyRow[]; readonly documents: readonly KeyDocument[] }> {
  const rows = await store.apiKeys.ofOwner(id, page);
  return { rows, documents: await documentsOf({ store, now }, rows) };
}

/**
 * Makes a key that its owner's account pays for. The key is shown here and never again.
 * @param secret the keyring's `apiKeySecret`
 */
export async function makeAccountKey(
  { store, now }: AccountKeys,
  { id: owner, tier }: Owner,
  secret: Uint8Array,
  members: KeyMembers,
): Promise<KeyDocument & { readonly key: string }> {
  const { row: fresh, key } = newKey(secret, { tier: tier ?? 'calls', label: null, now });
  const blank = { ...fresh, owner, manages: 0 as const };
  const row = { ...blank, ...changed(blank, members) };
  await store.apiKeys.put(row);
  return { ...(await documentOf({ store, now }, row)), key };
}

/** Changes a key of the account. @throws key_not_found; key_cannot_manage for the account's own key */
export async function changeAccountKey(
  { store, now }: AccountKeys,
  owner: Owner,
  id: string,
  members: KeyMembers,
): Promise<KeyDocument> {
  await madeKey(store, owner, id);
  const row = await store.apiKeys.change(id, (present) => changed(present, members));
  if (row === null) throw unknownKey();
  return documentOf({ store, now }, row);
}

/** Revokes a key of the account; one that is revoked stays so. @throws as `changeAccountKey` */
export async function revokeAccountKey(
  { store, now }: AccountKeys,
  owner: Owner,
  id: string,
): Promise<KeyDocument> {
  const row = await madeKey(store, owner, id);
  const at = Math.floor(now / 1000);
  await store.apiKeys.revoke(id, at);
  await store.webhooks.emit(keyRevoked(id, at), callerAccount(owner.id));
  return documentOf({ store, now }, { ...row, revokedAt: row.revokedAt ?? at });
}

/**
 * Gives a key of the account a new secret under the same id.
 * @param graceSeconds for which the secret before stays good
 * @throws key_not_found
 */
export async function rotateAccountKey(
  { store, now }: AccountKeys,
  owner: Owner,
  id: string,
  { secret, graceSeconds }: { readonly secret: Uint8Array; readonly graceSeconds: number },
): Promise<KeyDocument & { readonly key: string }> {
  const row = await ownKey(store, owner, id);
  const key = newApiKey(row.tier as Grant);
  await store.apiKeys.rotate(id, apiKeyHasher(secret)(key), Math.floor(now / 1000) + graceSeconds);
  return { ...(await documentOf({ store, now }, row)), key };
}

type Keys = Pick<AccountKeys['store'], 'apiKeys'>;

/** @throws key_not_found, also for a key of another account */
async function ownKey({ apiKeys }: Keys, { id: owner }: Owner, id: string): Promise<ApiKeyRow> {
  const row = await apiKeys.get(id);
  if (row !== null && (row.owner ?? row.id) === owner) return row;
  throw unknownKey();
}

function unknownKey(): TallyError {
  return new TallyError(
    'key_not_found',
    'The account has no API key with that id. GET /v1/keys lists them.',
    {
      field: 'id',
    },
  );
}

/** A key that the account's owner made. @throws key_cannot_manage for the one that the account is named after */
async function madeKey(store: Keys, owner: Owner, id: string): Promise<ApiKeyRow> {
  const row = await ownKey(store, owner, id);
  if (row.owner !== null) return row;
  throw new TallyError(
    'key_cannot_manage',
    `${id} is the account’s own key. It can be rotated; only the operator limits or revokes it.`,
  );
}

function changed(
  row: ApiKeyRow,
  { name, expires_at: end, limits, manages, keep }: KeyMembers,
): Pick<ApiKeyRow, 'label' | 'expiresAt' | 'limits' | 'manages' | 'keep'> {
  return {
    label: name === undefined ? row.label : name,
    expiresAt: end === undefined ? row.expiresAt : end === null ? null : Math.floor(Date.parse(end) / 1000),
    limits: limits === undefined ? row.limits : mergedLimits(row.limits, limits),
    manages: manages === undefined ? row.manages : manages ? 1 : 0,
    keep: keep === undefined ? row.keep : keep ? 1 : 0,
  };
}

/** The limits of spenders, and what their calls were charged today and this month (UTC). */
export async function spendingDocuments(
  { store, now }: { readonly store: Pick<AccountKeys['store'], 'ledger'>; readonly now: number },
  spenders: readonly Spender[],
): Promise<{ readonly spender: string; readonly limits: Limits; readonly spent: KeyDocument['spent'] }[]> {
  const spent = await spentBy(
    store,
    spenders.map(({ id }) => id),
    now,
  );
  return spenders.map(({ id, limits }) => ({ spender: id, limits: limitsFrom(limits), spent: spent(id) }));
}

/** @param now Unix milliseconds */
async function spentBy(
  { ledger }: Pick<AccountKeys['store'], 'ledger'>,
  ids: readonly string[],
  now: number,
): Promise<(id: string) => KeyDocument['spent']> {
  const spent = await ledger.spent(ids, Math.floor(now / 1000));
  return (id) => {
    const { day = 0n, month = 0n } = spent.get(id) ?? {};
    return { day_usdc: formatUsdc(day), month_usdc: formatUsdc(month) };
  };
}

async function documentOf(keys: AccountKeys, row: ApiKeyRow): Promise<KeyDocument> {
  const [document] = await documentsOf(keys, [row]);
  if (document === undefined) throw new RangeError('Each row has a document.');
  return document;
}

async function documentsOf({ store, now }: AccountKeys, rows: readonly ApiKeyRow[]): Promise<KeyDocument[]> {
  const spent = await spentBy(
    store,
    rows.map(({ id }) => id),
    now,
  );
  return rows.map((row) => {
    return {
      id: row.id,
      // What the operator wrote down about a key is for the operator.
      name: row.owner === null ? null : row.label,
      created_at: timeOf(row.createdAt),
      last_used_at: row.lastUsedAt === null ? null : timeOf(row.lastUsedAt),
      expires_at: row.expiresAt === null ? null : timeOf(row.expiresAt),
      revoked_at: row.revokedAt === null ? null : timeOf(row.revokedAt),
      manages: row.manages === 1,
      keep: row.keep === 1,
      limits: limitsFrom(row.limits),
      spent: spent(row.id),
    };
  });
}

function timeOf(seconds: number): string {
  return formatTimestamp(seconds * 1000);
}
