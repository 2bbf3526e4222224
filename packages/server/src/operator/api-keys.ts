import { type ApiKeyListing, createApiKey, type Grant, listApiKeys, revokeApiKey } from '@tallystick/callers';
import { paint, print, printable, printJson, remark } from '@tallystick/cli/toolkit';
import { withApiKeySecret } from '@tallystick/issuers';
import type { Config } from '../config/config.ts';
import { changeServiceKeyring, openKeyring, requireDatabase, serviceConfig, withStore } from './files.ts';

/** Creates a key and shows it, this once. */
export async function create(options: { grant: Grant; label?: string; json?: boolean }): Promise<void> {
  const { grant: tier, label = null, json } = options;
  const config = serviceConfig();
  const secret = await apiKeySecret(config);
  const { id, key } = await withStore(config, (store) =>
    createApiKey(store, secret, { tier, label, now: Date.now() }),
  );
  if (json) printJson({ key, id, tier, label });
  else print(key);
  remark(`${id}, ${tier}. The key is shown only once: only its hash is stored.`);
}

/** The secret with which keys are hashed. A keyring that is older than API keys gets one. */
export async function apiKeySecret(config: Config): Promise<Uint8Array> {
  const { keyring } = await openKeyring(config.keyring.path, config);
  if (keyring.apiKeySecret !== null) return keyring.apiKeySecret;
  return withApiKeySecret(await changeServiceKeyring(config, withApiKeySecret)).apiKeySecret;
}

/** Lists the keys without their secrets, including revoked ones, oldest first. */
export async function list({ json }: { json?: boolean }): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  const keys = await withStore(config, async (store) => {
    const all: ApiKeyListing[] = [];
    for await (const key of listApiKeys(store)) all.push(key);
    return all;
  });
  if (json) return printJson(keys);
  for (const key of keys) print(keyLine(key));
  if (keys.length === 0) remark('There is no API key yet. Make one with: tally apikey create --tier pro');
}

function keyLine({ id, tier, label, created_at, revoked_at, expires_at }: ApiKeyListing): string {
  const active = expires_at === null ? 'active' : `paid until ${expires_at}`;
  const state = revoked_at === null ? active : paint('yellow', `revoked ${revoked_at}`);
  const name = label === null ? '' : `  ${printable(label)}`;
  return `${id}  ${tier.padEnd(10)}  ${paint('dim', `made ${created_at}`)}  ${state}${name}`;
}

/** Revokes a key by its id. @throws api_key_invalid where there is none of that id */
export async function revoke(id: string, { json }: { json?: boolean }): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  await withStore(config, (store) => revokeApiKey(store, id, Date.now()));
  if (json) printJson({ id, revoked: true });
  else print(`${id} is revoked.`);
}
