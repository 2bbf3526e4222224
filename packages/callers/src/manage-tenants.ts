import { formatTimestamp, TallyError } from '@tallystick/core';
import { tenantAccount } from '@tallystick/ledger';
import { newTenantId } from './api-key.ts';
import { newKey } from './manage-api-keys.ts';
import type { TenantStore } from './tenant-store.ts';
import { keyRevoked } from './webhooks/events.ts';
import type { WebhookStore } from './webhooks/webhook-store.ts';

type TenantRecords = { readonly tenants: TenantStore };

export interface TenantListing {
  readonly id: string;
  readonly label: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
  /** The ids of its keys that are in force. */
  readonly keys: readonly string[];
}

/** Makes a tenant. It has no key yet. `now`: Unix milliseconds. Returns its id. */
export async function createTenant(
  { tenants }: TenantRecords,
  { label, now }: { readonly label: string | null; readonly now: number },
): Promise<string> {
  const id = newTenantId();
  const createdAt = Math.floor(now / 1000);
  await tenants.put({ id, label, createdAt, revokedAt: null, sweptTo: createdAt });
  return id;
}

/**
 * Makes a key of a tenant, which works at once on every server of the store. It is shown here and never again.
 * @param secret the keyring's `apiKeySecret`
 * @throws tenant_not_found, also for one that was revoked
 */
export async function createTenantKey(
  { tenants }: TenantRecords,
  secret: Uint8Array,
  { tenant, label, now }: { readonly tenant: string; readonly label: string | null; readonly now: number },
): Promise<{ id: string; key: string }> {
  const { row, key } = newKey(secret, { tier: 'tenant', label, now });
  const outcome = await tenants.putKey(tenant, row);
  if (outcome === 'stored') return { id: row.id, key };
  const why = outcome === 'revoked' ? 'was revoked' : 'does not exist';
  throw new TallyError('tenant_not_found', `The tenant ${tenant} ${why}.`, { field: 'tenant' });
}

/** All tenants, revoked ones too, oldest first. */
export async function* listTenants({
  tenants,
}: TenantRecords): AsyncGenerator<TenantListing, void, undefined> {
  for await (const { id, label, createdAt, revokedAt } of tenants.list()) {
    yield {
      id,
      label,
      created_at: formatTimestamp(createdAt * 1000),
      revoked_at: revokedAt === null ? null : formatTimestamp(revokedAt * 1000),
      keys: await tenants.keysOf(id),
    };
  }
}

/**
 * Revokes a tenant and every key of it, from the next request on, and tells its webhooks of each key. Its receipts stay for
 * their retention.
 * @throws tenant_not_found
 */
export async function revokeTenant(
  { tenants, webhooks }: TenantRecords & { readonly webhooks: Pick<WebhookStore, 'emit'> },
  id: string,
  now: number,
): Promise<void> {
  const at = Math.floor(now / 1000);
  const keys = await tenants.keysOf(id);
  if ((await tenants.revoke(id, at)) !== 'unknown') {
    for (const key of keys) await webhooks.emit(keyRevoked(key, at), tenantAccount(id));
    return;
  }
  throw new TallyError('tenant_not_found', `There is no tenant ${id}.`, { field: 'tenant' });
}
