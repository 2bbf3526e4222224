import {
  createOperatorKey,
  listOperatorKeys,
  type OperatorKeyListing,
  revokeOperatorKey,
} from '@tallystick/callers';
import { paint, print, printable, printJson, remark, UsageError } from '@tallystick/cli/toolkit';
import { apiKeySecret } from './api-keys.ts';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

interface Flags {
  readonly label?: string;
  readonly link?: boolean;
  readonly json?: boolean;
}

/** Makes a key of an operator and shows it, this once. */
export async function create({ label: given, link = false, json }: Flags): Promise<void> {
  const label = given ?? null;
  const config = serviceConfig();
  if (link && config.port === 0 && config.derivedUrls.includes('siteUrl'))
    throw new UsageError(
      'PORT is 0, so the port of the service is not known here. Set PORT to it, or TALLY_SITE_URL, or leave --link out.',
    );
  const secret = await apiKeySecret(config);
  const { id, key } = await withStore(config, (store) =>
    createOperatorKey(store, secret, { label, now: Date.now() }),
  );
  // Browsers send no fragment, and the page takes it out of the address.
  const url = link ? `${config.siteUrl}/operator#${key}` : null;
  if (json) printJson({ key, id, label, ...(url !== null && { url }) });
  else print(url ?? key);
  remark(`${id}. The key is shown only once: only its hash is stored.`);
}

/** Lists the keys without their secrets, revoked ones too, oldest first. */
export async function list({ json }: Flags): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  const keys = await withStore(config, (store) => listOperatorKeys(store));
  if (json) return printJson(keys);
  for (const key of keys) print(keyLine(key));
  if (keys.length === 0) remark('There is no operator key yet. Make one with: tally operator-key create');
}

function keyLine({ id, label, created_at, revoked_at }: OperatorKeyListing): string {
  const state = revoked_at === null ? 'active' : paint('yellow', `revoked ${revoked_at}`);
  const name = label === null ? '' : `  ${printable(label)}`;
  return `${id}  ${paint('dim', `made ${created_at}`)}  ${state}${name}`;
}

/** Revokes a key by its id. @throws api_key_invalid where there is none of that id */
export async function revoke(id: string, { json }: Flags): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  await withStore(config, (store) => revokeOperatorKey(store, id, Date.now()));
  if (json) printJson({ id, revoked: true });
  else print(`${id} is revoked.`);
}
