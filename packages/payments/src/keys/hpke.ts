import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { concatBytes, fromBase64url, TallyError, toBase64url, utf8 } from '@tallystick/core';

/** HPKE (RFC 9180), base mode, one message: DHKEM(X25519, HKDF-SHA256) 0x0020, HKDF-SHA256 0x0001, AES-128-GCM 0x0001. */
const KEM_ID = uint16(0x0020);
const SUITE_ID = concatBytes(utf8('HPKE'), KEM_ID, uint16(0x0001), uint16(0x0001));
const KEM_SUITE_ID = concatBytes(utf8('KEM'), KEM_ID);
const KEY_LENGTH = 16;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const SECRET_LENGTH = 32;
const NOTHING = new Uint8Array();

export interface Sealed {
  /** The ephemeral public key: 32 bytes. */
  readonly enc: Uint8Array;
  /** With the tag of 16 bytes at its end. */
  readonly ciphertext: Uint8Array;
}

/** Seals to an X25519 public key (32 bytes). @param ephemeral the sender's single-use key, which only tests give */
export function hpkeSeal(
  recipient: Uint8Array,
  {
    info,
    aad,
    plaintext,
  }: { readonly info: Uint8Array; readonly aad: Uint8Array; readonly plaintext: Uint8Array },
  ephemeral: KeyObject = generateKeyPairSync('x25519').privateKey,
): Sealed {
  const enc = rawPublicKey(createPublicKey(ephemeral));
  const shared = diffieHellman({ privateKey: ephemeral, publicKey: x25519PublicKey(recipient) });
  const { key, nonce } = keySchedule(kemSecret(shared, enc, recipient), info);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  cipher.setAAD(aad);
  const body = concatBytes(cipher.update(plaintext), cipher.final(), cipher.getAuthTag());
  return { enc, ciphertext: body };
}

/**
 * Opens what was sealed to the key.
 * @param secret the recipient's X25519 secret key, 32 bytes
 * @throws seal_wrong_key where the key is another, or a byte was changed
 */
export function hpkeOpen(
  secret: Uint8Array,
  { enc, ciphertext }: Sealed,
  { info, aad }: { readonly info: Uint8Array; readonly aad: Uint8Array },
): Uint8Array {
  try {
    const privateKey = x25519SecretKey(secret);
    const recipient = rawPublicKey(createPublicKey(privateKey));
    const shared = diffieHellman({ privateKey, publicKey: x25519PublicKey(enc) });
    const { key, nonce } = keySchedule(kemSecret(shared, enc, recipient), info);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce);
    decipher.setAAD(aad);
    const split = ciphertext.length - TAG_LENGTH;
    decipher.setAuthTag(ciphertext.subarray(split));
    return concatBytes(decipher.update(ciphertext.subarray(0, split)), decipher.final());
  } catch (cause) {
    throw new TallyError('seal_wrong_key', 'This was not sealed to this key, or it was changed since.', {
      cause,
    });
  }
}

/** RFC 9180, section 4.1. */
function kemSecret(shared: Uint8Array, enc: Uint8Array, recipient: Uint8Array): Uint8Array {
  const context = concatBytes(enc, recipient);
  const prk = labeledExtract(KEM_SUITE_ID, NOTHING, 'eae_prk', shared);
  return labeledExpand(KEM_SUITE_ID, prk, 'shared_secret', context, SECRET_LENGTH);
}

/** RFC 9180, section 5.1, without a PSK. */
function keySchedule(shared: Uint8Array, info: Uint8Array): { key: Uint8Array; nonce: Uint8Array } {
  const context = concatBytes(
    Uint8Array.of(0),
    labeledExtract(SUITE_ID, NOTHING, 'psk_id_hash', NOTHING),
    labeledExtract(SUITE_ID, NOTHING, 'info_hash', info),
  );
  const secret = labeledExtract(SUITE_ID, shared, 'secret', NOTHING);
  return {
    key: labeledExpand(SUITE_ID, secret, 'key', context, KEY_LENGTH),
    nonce: labeledExpand(SUITE_ID, secret, 'base_nonce', context, NONCE_LENGTH),
  };
}

function labeledExtract(suite: Uint8Array, salt: Uint8Array, label: string, ikm: Uint8Array): Uint8Array {
  const labeled = concatBytes(utf8('HPKE-v1'), suite, utf8(label), ikm);
  // HKDF-Extract (RFC 5869, section 2.2); no salt is as many zeros as the hash is long.
  return createHmac('sha256', salt.length === 0 ? new Uint8Array(32) : salt)
    .update(labeled)
    .digest();
}

function labeledExpand(
  suite: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const labeled = concatBytes(uint16(length), utf8('HPKE-v1'), suite, utf8(label), info);
  // One block is enough for all lengths here (RFC 5869, section 2.3).
  return createHmac('sha256', prk).update(labeled).update(Uint8Array.of(1)).digest().subarray(0, length);
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}

export function x25519SecretKey(secret: Uint8Array): KeyObject {
  const key = Buffer.from(concatBytes(PKCS8_X25519, secret));
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

/** RFC 8410, section 7: what stands before the 32 bytes of an X25519 key. */
const PKCS8_X25519 = Uint8Array.from([
  0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20,
]);

function x25519PublicKey(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: toBase64url(bytes) }, format: 'jwk' });
}

function rawPublicKey(key: KeyObject): Uint8Array {
  const { x } = key.export({ format: 'jwk' });
  return fromBase64url(String(x), 32);
}
