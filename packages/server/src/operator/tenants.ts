import {
  createTenant,
  createTenantKey,
  listTenants,
  revokeApiKey,
  revokeTenant,
  type TenantListing,
} from '@tallystick/callers';
import { paint, print, printable, printJson, remark } from '@tallystick/cli/toolkit';
import { apiKeySecret } from './api-keys.ts';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

interface Flags {
  readonly label?: string;
  readonly json?: boolean;
}

/** Makes a tenant and shows its id. */
export async function create({ label: given, json }: Flags): Promise<void> {
  const label = given ?? null;
  const tenant = await withStore(serviceConfig(), (store) => createTenant(store, { label, now: Date.now() }));
  if (json) printJson({ tenant, label });
  else print(tenant);
  remark(`Make a key of it with: tally tenant key ${tenant}`);
}

/** Makes a key of a tenant and shows it, this once. @throws tenant_not_found */
export async function key(tenant: string, { label, json }: Flags): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  const secret = await apiKeySecret(config);
  const made = await withStore(config, (store) =>
    createTenantKey(store, secret, { tenant, label: label ?? null, now: Date.now() }),
  );
  if (json) printJson({ key: made.key, id: made.id, tenant, label: label ?? null });
  else print(made.key);
  remark(`${made.id}, of ${tenant}. The key is shown only once: only its hash is stored.`);
}

/** Lists the tenants, revoked ones too, oldest first. */
export async function list({ json }: { json?: boolean }): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  const tenants = await withStore(config, async (store) => {
    const all: TenantListing[] = [];
    for await (const tenant of listTenants(store)) all.push(tenant);
    return all;
  });
  if (json) return printJson(tenants);
  for (const tenant of tenants) print(tenantLine(tenant));
  if (tenants.length === 0) remark('There is no tenant yet. Make one with: tally tenant create');
}

function tenantLine({ id, label, created_at, revoked_at, keys }: TenantListing): string {
  const state = revoked_at === null ? 'active' : paint('yellow', `revoked ${revoked_at}`);
  const name = label === null ? '' : `  ${printable(label)}`;
  return `${id}  ${paint('dim', `made ${created_at}`)}  ${state}  ${keys.join(' ') || 'no key'}${name}`;
}

/** Revokes a tenant with its keys, or a single key. @throws tenant_not_found, api_key_invalid */
export async function revoke(id: string, { isKey, json }: { isKey: boolean; json?: boolean }): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  const now = Date.now();
  await withStore(config, (store) => (isKey ? revokeApiKey(store, id, now) : revokeTenant(store, id, now)));
  if (json) printJson({ id, revoked: true });
  else print(`${id} is revoked.`);
}
