import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { paint, print, printJson, remark, UsageError, unreadable } from '@tallystick/cli/toolkit';
import {
  formatTimestamp,
  KEY_PURPOSES,
  type KeyPurpose,
  type KeyTimes,
  parseTimestamp,
  type RevocationReason,
  rootFingerprint,
} from '@tallystick/core';
import {
  addPqKey,
  createKeyring,
  holdsRoot,
  type Keyring,
  ownRecord,
  pqSignerOf,
  remoteKeys,
  replaceLostKey,
  revokeEarlierKey,
  revokeKey,
  revokePqKey,
  rotateKey,
  signerFor,
  writeKeyring,
} from '@tallystick/issuers';
import { changeServiceKeyring, openKeyring, publishNews, serviceConfig } from './files.ts';

interface InitOptions {
  readonly rootOut?: string;
  /** `<purpose>=<name>` of each key that is elsewhere. */
  readonly signer?: readonly string[];
  readonly json?: boolean;
}

/** Makes the service's keyring; with `rootOut`, also a second one that has only the root key. */
export async function init({ rootOut, signer = [], json }: InitOptions): Promise<void> {
  const config = serviceConfig();
  const path = config.keyring.path;
  for (const one of [path, rootOut]) {
    if (one !== undefined && existsSync(one))
      throw new UsageError(`${one} already exists and was left unchanged.`);
  }
  if (rootOut !== undefined && resolve(rootOut) === path)
    throw new UsageError('--root-out names the service’s own keyring; give another file.');
  const { passphrase, remote } = config.keyring;
  const keyring = await createKeyring(config.handle, Date.now(), {
    names: new Map(signer.map(remoteKeyOf)),
    openRemoteKey: remoteKeys(remote, globalThis.fetch),
  });
  const isRoot = ({ purpose }: { purpose: string }): boolean => purpose === 'root';
  if (rootOut !== undefined)
    writeKeyring(
      rootOut,
      { ...keyring, keys: keyring.keys.filter(isRoot), apiKeySecret: null, earlierKeys: [], pqKeys: [] },
      passphrase,
    );
  const online = rootOut === undefined ? keyring.keys : keyring.keys.filter((key) => !isRoot(key));
  writeKeyring(path, { ...keyring, keys: online }, passphrase);
  const { did } = keyring.document;
  const root = rootFingerprint(signerFor(keyring, 'root').publicKey);
  if (json)
    printJson({ did, root, keyring: path, root_keyring: rootOut ?? null, encrypted: passphrase !== null });
  else print(`${did}  root ${root}`);
  remark(`Wrote ${path}${rootOut === undefined ? '' : ` and, with the root key only, ${rootOut}`}.`);
  if (passphrase === null)
    remark('The keys are not encrypted: set TALLY_KEYRING_PASSPHRASE_FILE to a file with a passphrase.');
}

/** A purpose and the name of its remote key. @throws UsageError */
function remoteKeyOf(text: string): [KeyPurpose, string] {
  const [, given = '', name = ''] = /^(\w+)=(.+)$/.exec(text) ?? [];
  const purpose = KEY_PURPOSES.find((one) => one === given && one !== 'root');
  if (purpose !== undefined) return [purpose, name];
  throw new UsageError(
    `--signer takes <purpose>=<ARN or PKCS#11 URI>, of any purpose but root; not ${text}.`,
  );
}

/** Lists the service's public keys. */
export async function list({ json }: { json?: boolean }): Promise<void> {
  const config = serviceConfig();
  const { keyring } = await openKeyring(config.keyring.path, config);
  const { did, keys, pq_keys: pqKeys = [] } = ownRecord(keyring);
  const root = holdsRoot(keyring) ? rootFingerprint(signerFor(keyring, 'root').publicKey) : null;
  if (json) return printJson({ did, root, keys, pq_keys: pqKeys });
  print(`${paint('bold', did)}  root ${root ?? 'kept elsewhere'}`);
  for (const key of keys) print(`  ${key.purpose.padEnd(10)} ${line(key)}`);
  for (const key of pqKeys) print(`  ${key.alg.padEnd(10)} ${line(key)}`);
}

/** State, id and window of a key. */
function line({
  state,
  key_id,
  valid_from,
  valid_until,
  revoked,
}: KeyTimes & { readonly key_id: string }): string {
  const until = revoked === null ? (valid_until ?? 'open') : `revoked ${revoked.at} (${revoked.reason})`;
  return `${state.padEnd(8)} ${key_id}  ${valid_from} … ${until}`;
}

/** Replaces the key of a purpose. */
export async function rotate({
  purpose,
  signer,
  grace,
  json,
}: {
  readonly purpose: KeyPurpose;
  readonly signer?: string;
  readonly grace?: number;
  readonly json?: boolean;
}): Promise<void> {
  const options = {
    ...(signer !== undefined && { remote: signer }),
    ...(grace !== undefined && { graceSeconds: grace }),
  };
  const { after, published } = await change((keyring) => rotateKey(keyring, purpose, Date.now(), options));
  const { keyId } = signerFor(after, purpose);
  if (json) printJson({ purpose, key_id: keyId, bundle_published: published });
  else print(keyId);
}

/** Makes a key for the second signature of pq receipts; one that was active is retired. */
export async function makePqKey({ json }: { json?: boolean }): Promise<void> {
  const { after, published } = await change(async (keyring) => addPqKey(keyring, Date.now()));
  const { keyId } = pqSignerOf(after);
  if (json) printJson({ key_id: keyId, bundle_published: published });
  else print(keyId);
  remark('Experimental. pq receipts are signed with it where TALLY_PQ_SIGNATURES=on.');
}

/** Revokes a key from a time on. */
export async function revoke(
  keyId: string,
  options: { reason: RevocationReason; at?: string; lost?: boolean; json?: boolean },
): Promise<void> {
  const { reason, lost = false } = options;
  const now = Date.now();
  const at = options.at === undefined ? now : revocationTime(options.at, now);
  const { published } = await change(async (keyring) => {
    if (lost) return replaceLostKey(keyring, keyId, reason, at, now);
    if (keyring.earlierKeys.some(({ key_id }) => key_id === keyId))
      return revokeEarlierKey(keyring, keyId, reason, at);
    return keyId.startsWith('sha256:')
      ? revokePqKey(keyring, keyId, reason, at)
      : revokeKey(keyring, keyId, reason, at, now);
  });
  const since = formatTimestamp(Math.floor(at / 1000) * 1000);
  if (options.json) printJson({ key_id: keyId, reason, at: since, bundle_published: published });
  else print(`${keyId} is revoked from ${since} on (${reason}).`);
  if (lost)
    remark(
      'The service’s record begins anew, with a new receipt key. Only the trust bundle says what the keys of before are good for.',
    );
}

/**
 * Encrypts a keyring with the passphrase that a file holds, or no more: that of the service, or another, such as the root's.
 * @throws UsageError unless there is either a file or `none`, for a file without a passphrase, and for the keyring itself
 */
export async function changePassphrase(
  file: string | undefined,
  { none, keyring, json }: { readonly none?: boolean; readonly keyring?: string; readonly json?: boolean },
): Promise<void> {
  if ((file === undefined) !== (none === true))
    throw new UsageError('Give either the file with the new passphrase, or --none.');
  const config = serviceConfig().keyring;
  const path = keyring === undefined ? config.path : resolve(keyring);
  const passphrase = file === undefined ? null : secretIn(file);
  // The passphrase would be gone with the file in which it stands.
  if (file !== undefined && existsSync(path) && realpathSync(file) === realpathSync(path))
    throw new UsageError(`${file} is the keyring. Give the file that holds its new passphrase.`);
  await changeServiceKeyring({ keyring: { ...config, path } }, (same) => same, passphrase);
  if (json) printJson({ keyring: path, encrypted: passphrase !== null });
  else if (file === undefined) print(`${path} is not encrypted any more.`);
  else print(`${path} is encrypted with the passphrase in ${file}.`);
  remark(
    file === undefined
      ? 'Take the passphrase out of the service’s configuration before you start it: with one, the next change of the keyring encrypts it again.'
      : 'Give the service that passphrase before you start it, and destroy the copies of the keyring that are encrypted with the old one.',
  );
}

function secretIn(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw unreadable(file, error);
  }
  if (text === '') throw new UsageError(`${file} is empty. Write the new passphrase into it.`);
  return text;
}

function revocationTime(text: string, now: number): number {
  const instant = parseTimestamp(text);
  if (instant === null) throw new UsageError('--at takes a UTC time such as 2027-01-31T12:00:00Z.');
  const at = instant.seconds * 1000;
  if (at > now) throw new UsageError('--at is when the revocation took effect; it can’t be in the future.');
  return at;
}

/** Changes the keyring on disk, then publishes the changed trust bundle. */
async function change(
  by: (keyring: Keyring) => Promise<Keyring>,
): Promise<{ after: Keyring; published: boolean }> {
  const config = serviceConfig();
  const after = await changeServiceKeyring(config, by);
  return { after, published: await publishNews(config, after) };
}
