import { didKeyOf, equalBytes, publicKeyOfDidKey, type Signer, TallyError } from '@tallystick/core';
import { nodeEngine } from '@tallystick/kit';

/** An Ed25519 key whose secret stays where it is. Both calls reject with `unavailable` when it can't be reached. */
export interface RemoteKey {
  /** 32 bytes. */
  publicKey(): Promise<Uint8Array>;
  /** Bytes of the longest message that the key signs; null where there is no limit. */
  readonly maxMessageBytes: number | null;
  /** The 64-byte Ed25519 signature of exactly these bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/**
 * Opens a key by its name in the keyring. Nothing is sent before the first call.
 * @throws invalid_field for a name in no known form; unavailable where its kind is not configured
 */
export type OpenRemoteKey = (name: string) => RemoteKey;

/** Where nothing is configured, as for the commands that sign with a root on a machine of its own. */
export const noRemoteKeys: OpenRemoteKey = (name) => {
  throw new TallyError('unavailable', `The key ${name} is remote, and no way to remote keys is configured.`);
};

/** The key id (did:key) of a remote key. */
export async function keyIdOf(key: RemoteKey): Promise<string> {
  return didKeyOf(await key.publicKey());
}

/**
 * A signer over a remote key. Each signature is checked before it is used, so that another key under the same name, or a
 * faulty device, is noticed at once.
 * @param keyId did:key
 */
export function remoteSigner(keyId: string, key: RemoteKey): Signer {
  const publicKey = publicKeyOfDidKey(keyId);
  return {
    keyId,
    publicKey,
    async sign(message) {
      const signature = await key.sign(message);
      if (signature.length === 64 && nodeEngine.verify(publicKey, message, signature)) return signature;
      const now = await key.publicKey();
      const why = equalBytes(now, publicKey) ? 'its signature is wrong' : `it is ${didKeyOf(now)} by now`;
      throw new TallyError('unavailable', `The remote key ${keyId} can't be used: ${why}.`);
    },
  };
}
