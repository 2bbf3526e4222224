import { statSync } from 'node:fs';
import { remark, UsageError, unreadable } from '@tallystick/cli/toolkit';
import {
  changeKeyring,
  holdsRoot,
  type Keyring,
  readKeyring,
  refreshTrust,
  remoteKeys,
} from '@tallystick/issuers';
import { openStore } from '../app/opening.ts';
import { type Config, readConfig } from '../config/config.ts';

/** The configuration of the service on this machine, read as `tally serve` reads it. @throws ConfigError */
export function serviceConfig(): Config {
  return readConfig(process.env);
}

/**
 * A keyring and the passphrase that it is written with.
 * @throws UsageError where there is none; invalid_field when it is malformed or the passphrase is wrong
 */
export async function openKeyring(
  path: string,
  config: Pick<Config, 'keyring'>,
): Promise<{ keyring: Keyring; passphrase: string | null }> {
  requireKeyring(path);
  const { passphrase, remote } = config.keyring;
  return { keyring: await readKeyring(path, passphrase, remoteKeys(remote, globalThis.fetch)), passphrase };
}

/**
 * Changes the keyring on disk. Resolves to the new one.
 * @param newPassphrase with which it is written, if not with that with which it was read; null writes it unencrypted
 * @throws as `openKeyring`; issuer_conflict where another command changed the file meanwhile
 */
export async function changeServiceKeyring(
  { keyring: { path, passphrase, remote } }: Pick<Config, 'keyring'>,
  by: (keyring: Keyring) => Keyring | Promise<Keyring>,
  newPassphrase?: string | null,
): Promise<Keyring> {
  requireKeyring(path);
  return changeKeyring(path, passphrase, remoteKeys(remote, globalThis.fetch), by, newPassphrase);
}

function requireKeyring(path: string): void {
  if (isThere(path)) return;
  throw new UsageError(
    `There is no keyring at ${path}. Make one with tally keys init, or name it with TALLY_KEYRING or TALLY_DATA_DIR.`,
  );
}

/** Checked because a wrong folder would get an empty database. @throws UsageError where there is no database */
export function requireDatabase({ database }: Pick<Config, 'database'>): void {
  if (database.kind !== 'sqlite' || isThere(database.path)) return;
  throw new UsageError(
    `There is no database at ${database.path}. Say where the service keeps it with TALLY_DATA_DIR.`,
  );
}

/** @throws UsageError where this user may not look into the file's folder, as where that belongs to the service's own user */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Opens the service's database for one piece of work. A server may be running on it. */
export async function withStore<T>(
  config: Config,
  work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>,
): Promise<T> {
  const store = await openStore(config);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Publishes the changed trust bundle if the root key is on this machine. Resolves to whether it is. */
export async function publishNews(config: Config, keyring: Keyring): Promise<boolean> {
  if (!holdsRoot(keyring)) {
    remark(
      'The root key is kept elsewhere: publish a new trust bundle with tally trust draft, sign and publish.',
    );
    return false;
  }
  await withStore(config, (store) => refreshTrust(store, keyring, Date.now()));
  return true;
}
