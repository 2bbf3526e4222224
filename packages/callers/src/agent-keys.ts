import {
  fromBase64url,
  type IssuerKey,
  parseDid,
  publicKeyOfDidKey,
  secondsOf,
  TallyError,
} from '@tallystick/core';
import type { Registry } from '@tallystick/issuers';

/**
 * The public keys (32 bytes each) that may have signed as `did` under `keyId`: that of a did:key itself, or the receipt
 * keys in use of an issuer that is registered here. Nothing is fetched, so that no caller names a host.
 * @param now Unix seconds
 * @throws signature_invalid where there is none
 */
export async function agentKeys(
  registry: Pick<Registry, 'document'>,
  { did, keyId }: { readonly did: string; readonly keyId: string },
  now: number,
): Promise<readonly Uint8Array[]> {
  const { method } = parseDid(did);
  if (method === 'key') return [publicKeyIn(did)];
  if (method !== 'svc') {
    throw new TallyError(
      'signature_invalid',
      `This service does not resolve did:${method}. Sign with a did:key.`,
    );
  }
  const keys = (await registry.document(did))?.keys.filter(
    (key) => isInUse(key, now) && isNamed(key, did, keyId),
  );
  if (keys !== undefined && keys.length > 0) return keys.map((key) => fromBase64url(key.public_key, 32));
  throw new TallyError(
    'signature_invalid',
    `${keyId} is not an active key of an issuer registered with this service.`,
  );
}

function publicKeyIn(did: string): Uint8Array {
  try {
    return publicKeyOfDidKey(did);
  } catch (cause) {
    throw new TallyError('signature_invalid', `${did} does not hold an Ed25519 key.`, { cause });
  }
}

function isInUse(key: IssuerKey, now: number): boolean {
  const { state, purpose, valid_from, valid_until } = key;
  return (
    state === 'active' &&
    purpose === 'receipt' &&
    secondsOf(valid_from) <= now &&
    (valid_until === null || now < secondsOf(valid_until))
  );
}

/** By the DID alone, by the id that the key is registered with, or by that of its method in the DID document. */
function isNamed({ key_id }: IssuerKey, did: string, keyId: string): boolean {
  return keyId === did || keyId === key_id || keyId === `${did}#${lastPart(key_id)}`;
}

function lastPart(keyId: string): string {
  return keyId.slice(Math.max(keyId.lastIndexOf(':'), keyId.lastIndexOf('#')) + 1);
}
