import { existsSync, statSync } from 'node:fs';
import type { KeyPurpose, PqSigner, Signer } from '@tallystick/core';
import { TallyError } from '@tallystick/core';
import { type Keyring, signerFor } from './keyring.ts';
import { readKeyring } from './keyring-file.ts';
import { pqSignerOf } from './pq-keys.ts';
import { keyIdOf, noRemoteKeys, type OpenRemoteKey } from './remote/remote-key.ts';

/** The service as an issuer: its DID, its published record, and its active keys. */
export interface OwnIssuer {
  readonly did: string;
  readonly keyring: Keyring;
  /**
   * The signer of a purpose's active key. Where a key that is elsewhere can't be reached, `sign` rejects with an `unavailable` that
   * strangers may read: only its cause says which key it is, and why. @throws unavailable when the keyring holds none
   */
  signer(purpose: KeyPurpose): Signer;
  /** The signer of second signatures of pq receipts; null while they are off. */
  pqSigner(): PqSigner | null;
}

/**
 * The issuer of a keyring file. `refresh` reads the file again when it has changed on disk, so that a rotation by the CLI
 * reaches a running server; given a passphrase, it uses that from then on. It changes nothing when it throws.
 * @param options.pqSignatures whether pq receipts get a second signature by ML-DSA: then the keyring must hold a key for it
 * @param expected DID that the keyring must have; null accepts any
 */
export async function openOwnIssuer(
  path: string,
  expected: string | null,
  firstPassphrase: string | null,
  {
    openRemoteKey = noRemoteKeys,
    pqSignatures = false,
  }: { readonly openRemoteKey?: OpenRemoteKey; readonly pqSignatures?: boolean } = {},
): Promise<OwnIssuer & { refresh(passphrase?: string | null): Promise<boolean> }> {
  if (!existsSync(path)) {
    throw new TallyError(
      'unavailable',
      `There is no keyring at ${path}. Create one with \`tally keys init\`.`,
    );
  }
  let version = fileVersion(path);
  let passphrase = firstPassphrase;
  let keyring = await readFor(path, expected, passphrase, openRemoteKey);
  const { did } = keyring.document;
  const signers = new Map<KeyPurpose, Signer>();
  const secondOf = (of: Keyring): PqSigner | null => (pqSignatures ? pqSignerOf(of) : null);
  let second = secondOf(keyring);
  return {
    did,
    get keyring() {
      return keyring;
    },
    signer(purpose) {
      let signer = signers.get(purpose);
      if (signer === undefined) {
        signer = withoutPlace(signerFor(keyring, purpose), purpose);
        signers.set(purpose, signer);
      }
      return signer;
    },
    pqSigner: () => second,
    async refresh(given = passphrase) {
      const current = fileVersion(path);
      if (current === version && given === passphrase) return false;
      const read = await readFor(path, did, given, openRemoteKey);
      second = secondOf(read);
      keyring = read;
      passphrase = given;
      version = current;
      signers.clear();
      return true;
    },
  };
}

/** The signer, whose errors go to callers of the service without the name of the key and the paths of its credentials. */
function withoutPlace(signer: Signer, purpose: KeyPurpose): Signer {
  return {
    ...signer,
    async sign(message) {
      try {
        return await signer.sign(message);
      } catch (cause) {
        if (!(cause instanceof TallyError) || cause.code !== 'unavailable') throw cause;
        throw new TallyError(
          'unavailable',
          `The service’s ${purpose} key can’t sign at the moment. Try again later.`,
          { cause },
        );
      }
    },
  };
}

async function readFor(
  path: string,
  did: string | null,
  passphrase: string | null,
  openRemoteKey: OpenRemoteKey,
): Promise<Keyring> {
  const keyring = await readKeyring(path, passphrase, openRemoteKey);
  if (did !== null && keyring.document.did !== did) {
    throw new TallyError(
      'unavailable',
      `The keyring at ${path} belongs to ${keyring.document.did}, but the service is ${did}. Set TALLY_HANDLE or TALLY_KEYRING.`,
    );
  }
  await requireRemoteKeys(keyring);
  return keyring;
}

/** @throws unavailable where an active key that is elsewhere can't be reached, or is another one than the keyring says */
async function requireRemoteKeys({ document, keys, openRemoteKey }: Keyring): Promise<void> {
  const active = new Set(document.keys.filter(({ state }) => state === 'active').map(({ key_id }) => key_id));
  for (const entry of keys) {
    if (!('remote' in entry) || !active.has(entry.keyId)) continue;
    const found = await keyIdOf(openRemoteKey(entry.remote));
    if (found !== entry.keyId)
      throw new TallyError(
        'unavailable',
        `The key ${entry.remote} is ${found}, not ${entry.keyId} as in the keyring.`,
      );
  }
}

/** A text that changes whenever the file is replaced: each write is a rename, so the inode is new. */
function fileVersion(path: string): string {
  const { ino, mtimeMs, size } = statSync(path);
  return `${ino}:${mtimeMs}:${size}`;
}
