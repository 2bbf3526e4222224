import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import {
  canonicalBytes,
  canonicalize,
  checkIssuerDocument,
  copyJson,
  fromBase64url,
  type IssuerKey,
  isObject,
  type JsonValue,
  KEY_PURPOSES,
  parseJson,
  readIssuerKey,
  readPqKey,
  TallyError,
  toBase64url,
} from '@tallystick/core';
import { nodePqSigner, nodeSigner } from '@tallystick/kit';
import type { KeyEntry, Keyring, PqKeyEntry } from './keyring.ts';
import { noRemoteKeys, type OpenRemoteKey } from './remote/remote-key.ts';

const KEYRING_TYPE = 'tally-keyring-v1';
const API_KEY_LABEL = canonicalBytes({ type: KEYRING_TYPE, purpose: 'api_keys' });
const SCRYPT = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/**
 * Writes the keyring as one JSON file of mode 0600, so that a crash leaves the old file or the new one. The new file belongs to
 * the user and group of the old one.
 * @param passphrase encrypts the secrets (scrypt, AES-256-GCM); null leaves them readable to the file's owner
 * @throws unavailable where this user may not give the file to the owner of the old one, which is then unchanged
 */
export function writeKeyring(path: string, keyring: Keyring, passphrase: string | null): void {
  renameSync(writeBeside(path, keyring, passphrase), path);
  syncFolder(path);
}

/**
 * Reads the keyring, and writes what `by` makes of it, unless another process has changed the file meanwhile.
 * @param passphrase as of `readKeyring` and `writeKeyring`
 * @param newPassphrase of the file that is written, if it is another; null writes it without one
 * @returns the keyring as it was written
 * @throws issuer_conflict where another process has changed the file since it was read, or is just writing it: the file is
 * then as the other one leaves it; what `by` throws; as `readKeyring` and `writeKeyring`
 */
export async function changeKeyring(
  path: string,
  passphrase: string | null,
  openRemoteKey: OpenRemoteKey,
  by: (keyring: Keyring) => Keyring | Promise<Keyring>,
  newPassphrase: string | null = passphrase,
): Promise<Keyring> {
  const before = readFileSync(path);
  const after = await by(await readKeyring(path, passphrase, openRemoteKey));
  const lock = `${path}.lock`;
  makeLock(path, lock);
  try {
    if (!readFileSync(path).equals(before)) {
      throw new TallyError(
        'issuer_conflict',
        `Another command has changed the keyring ${path} meanwhile, and this one changed nothing. Look at the keys (tally keys list), then run it again.`,
      );
    }
    writeKeyring(path, after, newPassphrase);
  } finally {
    unlinkSync(lock);
  }
  return after;
}

/** Makes the file that is there while a keyring is compared and written. @throws issuer_conflict where it is there already */
function makeLock(path: string, lock: string): void {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new TallyError(
      'issuer_conflict',
      `Another command is writing the keyring ${path}, and this one changed nothing. Run it again. If no other command runs, one was ended while it wrote: remove ${lock}.`,
      { cause },
    );
  }
}

/** As `writeKeyring`, but does not replace an existing file: of several processes that start at once, one writes it. */
export function writeFirstKeyring(path: string, keyring: Keyring, passphrase: string | null): void {
  const temporary = writeBeside(path, keyring, passphrase);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(temporary);
  }
  syncFolder(path);
}

/** Writes to a new file beside `path`, down to the disk. Returns the path of that file. */
function writeBeside(path: string, keyring: Keyring, passphrase: string | null): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.new`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    giveToOwnerOf(path, file);
    // Unlike a single write, this one throws where there is no room for all of it.
    writeFileSync(file, `${canonicalize(toDocument(keyring, passphrase))}\n`);
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary);
    throw error;
  } finally {
    closeSync(file);
  }
  return temporary;
}

/** Gives the new file to the owner of the old one, whose service could not read it if root's command kept it. @throws unavailable */
function giveToOwnerOf(path: string, file: number): void {
  const old = statSync(path, { throwIfNoEntry: false });
  const made = fstatSync(file);
  if (old === undefined || (made.uid === old.uid && made.gid === old.gid)) return;
  try {
    fchownSync(file, old.uid, old.gid);
  } catch (cause) {
    throw new TallyError(
      'unavailable',
      `The keyring ${path} was left unchanged: it belongs to the user ${old.uid} and the group ${old.gid}, and a new file of user ${made.uid} could not be given to them, so that the service might not be able to read it. Run this command as the user ${old.uid}.`,
      { cause },
    );
  }
}

function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function toDocument(keyring: Keyring, passphrase: string | null): JsonValue {
  const lock = passphrase === null ? null : newLock(passphrase);
  return copyJson({
    type: KEYRING_TYPE,
    document: keyring.document,
    kdf:
      lock === null
        ? null
        : { name: 'scrypt', salt: toBase64url(lock.salt), n: SCRYPT.N, r: SCRYPT.r, p: SCRYPT.p },
    keys: keyring.keys.map((entry) => ({
      key_id: entry.keyId,
      purpose: entry.purpose,
      ...('secret' in entry
        ? { secret: protect(entry.secret, label(entry.keyId, entry.purpose), lock) }
        : { remote: entry.remote }),
    })),
    ...(keyring.earlierKeys.length > 0 && { earlier_keys: keyring.earlierKeys }),
    ...(keyring.pqKeys.length > 0 && {
      pq_keys: keyring.pqKeys.map(({ record, secret }) => ({
        ...record,
        secret: protect(secret, label(record.key_id, record.alg), lock),
      })),
    }),
    ...(keyring.apiKeySecret === null
      ? {}
      : { api_key_secret: protect(keyring.apiKeySecret, API_KEY_LABEL, lock) }),
  });
}

/**
 * Reads a keyring and checks that its record follows from its history and that each secret belongs to its key. Of a remote
 * key only its name is read: each of its signatures is checked when it is made.
 * @throws unavailable when this user may not read the file; invalid_field when it is malformed or the passphrase is wrong or
 * missing; json_*, and the codes of a record that does not follow from its history. Each names the file.
 */
export async function readKeyring(
  path: string,
  passphrase: string | null,
  openRemoteKey: OpenRemoteKey = noRemoteKeys,
): Promise<Keyring> {
  try {
    return { ...(await readWhole(path, passphrase)), openRemoteKey };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw forbidden(path, error);
    if (!(error instanceof TallyError)) throw error;
    const { code, message, field } = error;
    throw new TallyError(code, `The keyring ${path} can’t be used. ${message}`, { field, cause: error });
  }
}

function forbidden(path: string, cause: unknown): TallyError {
  const user = process.geteuid?.();
  const { uid } = statSync(path);
  return new TallyError(
    'unavailable',
    `The keyring ${path} belongs to the user ${uid}, and this process runs as the user ${user}, who may not read it. The user that runs the service must own it: run this as the user ${uid}, or give it the file with chown ${user} ${path}`,
    { cause },
  );
}

async function readWhole(path: string, passphrase: string | null): Promise<Omit<Keyring, 'openRemoteKey'>> {
  const file = parseJson(readFileSync(path));
  if (!isObject(file) || file.type !== KEYRING_TYPE || !Array.isArray(file.keys)) {
    throw malformed('It is not a keyring.');
  }
  const unlock = unlocker(file.kdf, passphrase);
  const document = await checkIssuerDocument(file.document);
  const { api_key_secret: apiKeys } = file;
  if (apiKeys !== undefined && typeof apiKeys !== 'string')
    throw malformed('The keyring’s secret for API keys is malformed.');
  return {
    document,
    keys: file.keys.map((entry) => readEntry(entry, unlock)),
    earlierKeys: readEarlierKeys(file.earlier_keys ?? []),
    pqKeys: readPqKeys(file.pq_keys ?? [], unlock),
    apiKeySecret: apiKeys === undefined ? null : reveal(apiKeys, API_KEY_LABEL, unlock),
  };
}

function readEntry(entry: JsonValue, unlock: Uint8Array | null): KeyEntry {
  const purpose = isObject(entry) ? KEY_PURPOSES.find((known) => known === entry.purpose) : undefined;
  if (
    !isObject(entry) ||
    purpose === undefined ||
    typeof entry.key_id !== 'string' ||
    (typeof entry.secret !== 'string') === (typeof entry.remote !== 'string')
  ) {
    throw malformed('A key of the keyring is malformed.');
  }
  if (typeof entry.remote === 'string') return { keyId: entry.key_id, purpose, remote: entry.remote };
  if (typeof entry.secret !== 'string') throw malformed('A key of the keyring is malformed.');
  const secret = reveal(entry.secret, label(entry.key_id, purpose), unlock);
  if (nodeSigner(secret).keyId !== entry.key_id)
    throw malformed(`The secret of ${entry.key_id} belongs to another key.`);
  return { keyId: entry.key_id, purpose, secret };
}

function readEarlierKeys(entries: JsonValue): IssuerKey[] {
  if (Array.isArray(entries)) return entries.map(readIssuerKey);
  throw malformed('The keyring’s list of earlier keys is malformed.');
}

function readPqKeys(entries: JsonValue, unlock: Uint8Array | null): PqKeyEntry[] {
  if (!Array.isArray(entries)) throw malformed('The keyring’s list of ML-DSA keys is malformed.');
  return entries.map((entry) => {
    if (!isObject(entry) || typeof entry.secret !== 'string')
      throw malformed('An ML-DSA key of the keyring is malformed.');
    const { secret: text, ...members } = entry;
    const record = readPqKey(members);
    const secret = reveal(text, label(record.key_id, record.alg), unlock);
    if (nodePqSigner(secret).keyId !== record.key_id)
      throw malformed(`The secret of ${record.key_id} belongs to another key.`);
    return { record, secret };
  });
}

interface Lock {
  readonly key: Buffer;
  readonly salt: Buffer;
}

function newLock(passphrase: string): Lock {
  const salt = randomBytes(16);
  return { key: scryptSync(passphrase, salt, 32, SCRYPT), salt };
}

function unlocker(kdf: JsonValue | undefined, passphrase: string | null): Uint8Array | null {
  if (kdf === null) return null;
  if (
    !isObject(kdf) ||
    typeof kdf.salt !== 'string' ||
    kdf.name !== 'scrypt' ||
    kdf.n !== SCRYPT.N ||
    kdf.r !== SCRYPT.r ||
    kdf.p !== SCRYPT.p
  ) {
    throw malformed('The keyring is encrypted in a way that this version does not know.');
  }
  if (passphrase === null) {
    throw malformed(
      'The keyring is encrypted: set TALLY_KEYRING_PASSPHRASE or TALLY_KEYRING_PASSPHRASE_FILE.',
    );
  }
  return scryptSync(passphrase, fromBase64url(kdf.salt, 16), 32, SCRYPT);
}

/** A 32-byte secret as the file holds it. With a lock it is encrypted: nonce, ciphertext and tag, with `aad` authenticated. */
function protect(secret: Uint8Array, aad: Uint8Array, lock: Lock | null): string {
  if (lock === null) return toBase64url(secret);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', lock.key, nonce).setAAD(aad);
  return toBase64url(Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]));
}

function reveal(text: string, aad: Uint8Array, unlock: Uint8Array | null): Uint8Array {
  if (unlock === null) return fromBase64url(text, 32);
  const sealed = fromBase64url(text, 12 + 32 + 16);
  const decipher = createDecipheriv('aes-256-gcm', unlock, sealed.subarray(0, 12))
    .setAAD(aad)
    .setAuthTag(sealed.subarray(44));
  try {
    return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(12, 44)), decipher.final()]));
  } catch (cause) {
    throw malformed('The passphrase of the keyring is wrong.', cause);
  }
}

function label(keyId: string, purpose: string): Uint8Array {
  return canonicalBytes({ type: KEYRING_TYPE, key_id: keyId, purpose });
}

function malformed(message: string, cause?: unknown): TallyError {
  return new TallyError('invalid_field', message, {
    field: 'keyring',
    ...(cause === undefined ? {} : { cause }),
  });
}
