import {
  canonicalize,
  fromBase64url,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  TallyError,
  toBase64url,
  utf8,
  x25519PublicKeyOf,
  x25519SecretKeyOf,
} from '@tallystick/core';
import { hpkeOpen, hpkeSeal } from './hpke.ts';
import { asKeyDocument, type KeyDocument } from './key-document.ts';

const KIND = 'svc-sealed-key-v1';
const SUITE = 'DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM';

/**
 * Seals a document to the holder of a DID's Ed25519 key: HPKE (RFC 9180) to the X25519 key of the same point, bound to
 * the order and the DID.
 * @param publicKey Ed25519, 32 bytes
 */
export function sealKey(
  document: KeyDocument,
  { order, did, publicKey }: { readonly order: string; readonly did: string; readonly publicKey: Uint8Array },
): JsonObject {
  const { enc, ciphertext } = hpkeSeal(x25519PublicKeyOf(publicKey), {
    ...bound(order, did),
    plaintext: utf8(canonicalize(document)),
  });
  return { v: KIND, suite: SUITE, order, did, enc: toBase64url(enc), ciphertext: toBase64url(ciphertext) };
}

/**
 * Opens what `sealKey` made.
 * @param secretKey the Ed25519 seed, 32 bytes
 * @throws seal_invalid for anything that is not such a document; seal_wrong_key
 */
export function openSealedKey(sealed: JsonValue | undefined, secretKey: Uint8Array): KeyDocument {
  if (!isObject(sealed)) throw malformed();
  const { v, suite, order, did, enc, ciphertext } = sealed;
  if (v !== KIND || suite !== SUITE) throw malformed();
  if (typeof order !== 'string' || typeof did !== 'string') throw malformed();
  if (typeof enc !== 'string' || typeof ciphertext !== 'string') throw malformed();
  const plain = hpkeOpen(
    x25519SecretKeyOf(secretKey),
    { enc: fromBase64url(enc, 32), ciphertext: fromBase64url(ciphertext) },
    bound(order, did),
  );
  const document = asKeyDocument(parseJson(plain));
  if (document === null) throw malformed();
  return document;
}

function bound(order: string, did: string): { info: Uint8Array; aad: Uint8Array } {
  return { info: utf8(KIND), aad: utf8(canonicalize([order, did])) };
}

function malformed(): TallyError {
  return new TallyError('seal_invalid', 'This is not a sealed key.');
}
