import {
  applyStatement,
  didSvc,
  generateSecretKey,
  type IssuerDocument,
  type IssuerKey,
  KEY_PURPOSES,
  type KeyPurpose,
  type PqKey,
  type RevocationReason,
  rootFingerprint,
  type Signer,
  signStatement,
  TallyError,
} from '@tallystick/core';
import { nodeSigner } from '@tallystick/kit';
import { keyIdOf, noRemoteKeys, type OpenRemoteKey, remoteSigner } from './remote/remote-key.ts';

/** Seconds for which an outgoing key stays valid, for processes that have not read the new keyring yet. */
export const ROTATION_GRACE = 60;

/** One key and its purpose, with its secret, the 32-byte seed, or with the name under which a `RemoteKey` is opened. */
export type KeyEntry = { readonly keyId: string; readonly purpose: KeyPurpose } & (
  | { readonly secret: Uint8Array }
  | { readonly remote: string }
);

/** A key for the second signature of pq receipts: what the trust bundle says of it, and its 32-byte seed. */
export interface PqKeyEntry {
  readonly record: PqKey;
  readonly secret: Uint8Array;
}

/**
 * The keys of one service and the public history of its own issuer record. Immutable: each change returns a new
 * keyring. The root key may be absent: in production it lives offline.
 */
export interface Keyring {
  readonly document: IssuerDocument;
  readonly keys: readonly KeyEntry[];
  /** Secret of 32 bytes under which HMACs of API keys are stored. Null in a keyring that was made without one. */
  readonly apiKeySecret: Uint8Array | null;
  /**
   * Keys that no statement of the record knows, since it was begun anew without a key that was lost. As for ML-DSA keys, the root
   * alone vouches for them, in the trust bundle.
   */
  readonly earlierKeys: readonly IssuerKey[];
  /** Keys for the second signature of pq receipts, which is experimental; the newest last. */
  readonly pqKeys: readonly PqKeyEntry[];
  /** Opens the keys that are elsewhere. */
  readonly openRemoteKey: OpenRemoteKey;
}

/** Purposes whose keys sign documents without a limit of their length. */
const OF_ANY_LENGTH: ReadonlySet<KeyPurpose> = new Set(['status', 'benchmark', 'bundle']);

/** Purposes whose keys are in the issuer record; the root is only in the trust bundle. */
const RECORDED = KEY_PURPOSES.filter((purpose) => purpose !== 'root');

/**
 * The DID of a service without a chosen handle, as in development: `did:svc:local-` and the first 8 hex digits of
 * its root's fingerprint. So two such services have different DIDs, and so has one that was set up anew.
 */
function didOfRoot(root: Signer): string {
  const [, digits = ''] = rootFingerprint(root.publicKey).split(':');
  return didSvc(`local-${digits.slice(0, 8)}`);
}

/**
 * Creates a keyring with one key for each purpose.
 * @param handle null if none was chosen: then the DID follows from the root
 * @param now Unix milliseconds
 * @param remote keys that are elsewhere, by their purposes; those of other purposes are made here
 */
export async function createKeyring(
  handle: string | null,
  now: number,
  remote: RemoteKeysByPurpose = { names: new Map(), openRemoteKey: noRemoteKeys },
): Promise<Keyring> {
  const { openRemoteKey } = remote;
  const make = async (purpose: KeyPurpose): Promise<KeyEntry> => {
    const name = remote.names.get(purpose);
    return name === undefined ? freshKey(purpose) : remoteEntry(purpose, name, openRemoteKey);
  };
  const root = freshKey('root');
  const did = handle === null ? didOfRoot(signerOf(root, openRemoteKey)) : didSvc(handle);
  const receipt = await make('receipt');
  let keyring: Keyring = {
    document: await newRecord(did, receipt, openRemoteKey, now),
    keys: [receipt, root],
    apiKeySecret: freshSecret(),
    earlierKeys: [],
    pqKeys: [],
    openRemoteKey,
  };
  for (const purpose of RECORDED) {
    if (purpose !== 'receipt') keyring = await addKey(keyring, await make(purpose), now);
  }
  return keyring;
}

/** The service's record with its first statement, in which its receipt key registers it. @param now Unix milliseconds */
export async function newRecord(
  did: string,
  receipt: KeyEntry,
  openRemoteKey: OpenRemoteKey,
  now: number,
): Promise<IssuerDocument> {
  const { keyId } = receipt;
  const register = { audience: did, did, sequence: 1, action: 'register', keyId, at: now } as const;
  const signed = await signStatement(register, signerOf(receipt, openRemoteKey));
  return { ...(await applyStatement(null, signed)), status: 'verified' };
}

/** Which keys of a new keyring are elsewhere. */
export interface RemoteKeysByPurpose {
  readonly names: ReadonlyMap<KeyPurpose, string>;
  readonly openRemoteKey: OpenRemoteKey;
}

/** Returns the keyring with a secret for API keys, adding one if it has none. */
export function withApiKeySecret(keyring: Keyring): Keyring & { readonly apiKeySecret: Uint8Array } {
  return { ...keyring, apiKeySecret: keyring.apiKeySecret ?? freshSecret() };
}

export interface RotationOptions {
  /** Name of a remote key that is to be the new one; null to make one here. */
  readonly remote?: string | null;
  /** How long the outgoing key stays valid: until every process has the new keyring. */
  readonly graceSeconds?: number;
}

/**
 * Replaces the active key of a purpose, or adds the first one, as to a keyring that is older than the purpose. The change
 * is signed by the outgoing receipt key; the outgoing key of the purpose stays valid for the time of grace.
 * @throws invalid_field for the root, which is replaced by pinning another one, and for the log's key, which
 * names the log
 */
export async function rotateKey(
  keyring: Keyring,
  purpose: KeyPurpose,
  now: number,
  { remote = null, graceSeconds = ROTATION_GRACE }: RotationOptions = {},
): Promise<Keyring> {
  if (purpose === 'root') {
    throw new TallyError(
      'invalid_field',
      'The root can’t be rotated: clients pin it. Create a new keyring and publish its fingerprint out of band.',
      { field: 'purpose' },
    );
  }
  if (purpose === 'log') {
    throw new TallyError(
      'invalid_field',
      'The log’s key can’t be rotated: it names the log. Another key starts another log, in another database.',
      { field: 'purpose' },
    );
  }
  const outgoing = findActive(keyring.document, purpose);
  const author = activeKey(keyring.document, 'receipt').key_id;
  const entry =
    remote === null ? freshKey(purpose) : await remoteEntry(purpose, remote, keyring.openRemoteKey);
  const rotated = await addKey(keyring, entry, now);
  if (outgoing === undefined) return rotated;
  const until = now + graceSeconds * 1000;
  return record(rotated, { action: 'retire_key', keyId: outgoing.key_id, at: until }, author);
}

/**
 * Revokes a key from `at` on (Unix milliseconds; for a compromise, when it happened). An active key is replaced
 * first, so that the service can continue to sign.
 */
export async function revokeKey(
  keyring: Keyring,
  keyId: string,
  reason: RevocationReason,
  at: number,
  now: number,
): Promise<Keyring> {
  const key = keyring.document.keys.find(({ key_id }) => key_id === keyId);
  if (key === undefined) {
    throw new TallyError('invalid_field', `${keyId} is not a key of ${keyring.document.did}.`, {
      field: 'key_id',
    });
  }
  const active = key.state === 'active';
  const replaced = active ? await addKey(keyring, freshKey(knownPurpose(key)), now) : keyring;
  return record(replaced, { action: 'revoke_key', keyId, reason, at });
}

/** @throws invalid_field for a purpose that only a later release knows */
export function knownPurpose({ key_id, purpose }: IssuerKey): KeyPurpose {
  const known = KEY_PURPOSES.find((one) => one === purpose);
  if (known !== undefined) return known;
  throw new TallyError('invalid_field', `${key_id} is for ${purpose}, which this release does not know.`, {
    field: 'key_id',
  });
}

/** The signer of a purpose's active key. @throws unavailable when the keyring holds none, as with an offline root */
export function signerFor(keyring: Keyring, purpose: KeyPurpose): Signer {
  const activeKeyId = purpose === 'root' ? null : activeKey(keyring.document, purpose).key_id;
  const entry = keyring.keys.find(
    (key) => key.purpose === purpose && (activeKeyId === null || key.keyId === activeKeyId),
  );
  if (entry === undefined) throw new TallyError('unavailable', `The keyring holds no ${purpose} key.`);
  return signerOf(entry, keyring.openRemoteKey);
}

export function signerOf(entry: KeyEntry, openRemoteKey: OpenRemoteKey): Signer {
  return 'secret' in entry
    ? nodeSigner(entry.secret)
    : remoteSigner(entry.keyId, openRemoteKey(entry.remote));
}

/** Returns whether the keyring can sign trust bundles by itself. */
export function holdsRoot(keyring: Keyring): boolean {
  return keyring.keys.some(({ purpose }) => purpose === 'root');
}

function findActive(document: IssuerDocument, purpose: KeyPurpose): IssuerKey | undefined {
  return document.keys.findLast((key) => key.purpose === purpose && key.state === 'active');
}

function activeKey(document: IssuerDocument, purpose: KeyPurpose): IssuerKey {
  const key = findActive(document, purpose);
  if (key === undefined) throw new TallyError('unavailable', `There is no active ${purpose} key.`);
  return key;
}

interface Change {
  readonly action: 'add_key' | 'retire_key' | 'revoke_key';
  readonly keyId: string;
  readonly purpose?: KeyPurpose;
  readonly reason?: RevocationReason;
  readonly at: number;
}

/** Adds the key of the entry to the record, signed by the active receipt key. @param now Unix milliseconds */
export async function addKey(keyring: Keyring, entry: KeyEntry, now: number): Promise<Keyring> {
  const { purpose } = entry;
  const withKey = { ...keyring, keys: [...keyring.keys, entry] };
  const author = activeKey(keyring.document, 'receipt').key_id;
  return record(withKey, { action: 'add_key', keyId: entry.keyId, purpose, at: now }, author, entry);
}

/**
 * Adds one more signed statement to the history.
 * @param author id of the key that signs it; by default that of the active receipt key
 * @param incoming the key that the statement adds, which signs it too
 */
export async function record(
  keyring: Keyring,
  change: Change,
  author?: string,
  incoming?: KeyEntry,
): Promise<Keyring> {
  const { document, keys } = keyring;
  const authorId = author ?? activeKey(document, 'receipt').key_id;
  const signer = keys.find(({ keyId }) => keyId === authorId);
  if (signer === undefined)
    throw new TallyError('unavailable', `The secret of ${authorId} is not in the keyring.`);
  const signed = await signStatement(
    { audience: document.did, did: document.did, sequence: document.sequence + 1, ...change },
    signerOf(signer, keyring.openRemoteKey),
    incoming === undefined ? undefined : signerOf(incoming, keyring.openRemoteKey),
  );
  return { ...keyring, document: await applyStatement(document, signed) };
}

function freshSecret(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32));
}

/**
 * @throws unavailable where the key can't be reached, or is of another kind; invalid_field where it can't sign documents as long
 * as those of the purpose
 */
async function remoteEntry(purpose: KeyPurpose, name: string, open: OpenRemoteKey): Promise<KeyEntry> {
  const key = open(name);
  if (OF_ANY_LENGTH.has(purpose) && key.maxMessageBytes !== null)
    throw new TallyError(
      'invalid_field',
      `The ${purpose} key can’t be ${name}: what it signs may be longer than the ${key.maxMessageBytes} bytes that this key signs at most. Use a key in the keyring file, or one without such a limit.`,
      { field: 'signer' },
    );
  return { keyId: await keyIdOf(key), purpose, remote: name };
}

/** A key that is made here. */
export function freshKey(purpose: KeyPurpose): KeyEntry & { readonly secret: Uint8Array } {
  const secret = generateSecretKey();
  return { keyId: nodeSigner(secret).keyId, purpose, secret };
}
