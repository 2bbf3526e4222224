import { AES_GCM_TAG_LENGTH, aesGcmDecrypt, aesGcmEncrypt } from './aes-gcm.ts';
import { fromBase64url, toBase64url } from './encoding/base64url.ts';
import { concatBytes, equalBytes, utf8 } from './encoding/bytes.ts';
import { fromHex, toHex } from './encoding/hex.ts';
import { TallyError } from './errors.ts';
import { hkdfSha256, sha256Hex } from './hash.ts';
import type { JsonValue } from './json/types.ts';

const SEAL_TYPE = 'svc-seal-v1';
const SEAL_ALG = 'A256GCM';
const KEY_LENGTH = 32;
const SEAL_ID_LENGTH = 16;
const NONCE_LENGTH = 12;
const COMMITMENT_LENGTH = 32;

/** A sealed document in its JSON form (spec/sealing.md); it has exactly these members. */
export type SealedDocument = {
  type: typeof SEAL_TYPE;
  alg: typeof SEAL_ALG;
  /** 16 random bytes, base64url. */
  seal_id: string;
  /** 12 random bytes, base64url. */
  nonce: string;
  /** HKDF-SHA256 of the key: 32 bytes, hex. No other key gives the same. */
  key_commitment: string;
  /** AES-256-GCM ciphertext followed by its 16-byte tag, base64url. */
  ciphertext: string;
};

/** Members of a signed receipt about a sealed document. With them, tampering and a wrong key can be told apart. */
export interface SealReference {
  readonly seal_id: string;
  /** SHA-256 of the ciphertext with its tag, hex. */
  readonly ciphertext_sha256: string;
  readonly key_commitment: string;
}

interface SealBytes {
  sealId: Uint8Array;
  nonce: Uint8Array;
  commitment: Uint8Array;
  ciphertext: Uint8Array;
}

/**
 * Seals `plaintext` (any bytes, also none) under a 32-byte key with AES-256-GCM. The encryption key and the
 * commitment are HKDF-SHA256 (RFC 5869) of `key` with the fresh `seal_id` as salt and the infos
 * `svc-seal-v1/key` and `svc-seal-v1/commitment`; the AAD is UTF-8 `svc-seal-v1` || seal_id || commitment.
 * One key may seal any number of documents. Throws `invalid_field` for a key of another length.
 */
export async function seal(plaintext: Uint8Array, key: Uint8Array): Promise<SealedDocument> {
  requireKey(key);
  const sealId = crypto.getRandomValues(new Uint8Array(SEAL_ID_LENGTH));
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
  const { encryptionKey, commitment } = deriveKeys(key, sealId);
  const ciphertext = await aesGcmEncrypt(encryptionKey, nonce, associatedData(sealId, commitment), plaintext);
  return {
    type: SEAL_TYPE,
    alg: SEAL_ALG,
    seal_id: toBase64url(sealId),
    nonce: toBase64url(nonce),
    key_commitment: toHex(commitment),
    ciphertext: toBase64url(ciphertext),
  };
}

/**
 * Opens a sealed document with its 32-byte key. Throws, in this order: `invalid_field` for a key of another
 * length; `seal_invalid` for a document that `seal` would not have written, or an `expected` without its
 * members; `seal_tampered` where the document is not the one that `expected` names; `seal_wrong_key` where
 * the key does not give the commitment; `seal_tampered` where the tag does not authenticate the rest.
 *
 * `expected` is what the signed receipt says (`sealReference`). Without it a changed `seal_id` or
 * `key_commitment` can only be seen as a wrong key.
 */
export async function openSeal(
  sealed: JsonValue,
  key: Uint8Array,
  expected?: SealReference,
): Promise<Uint8Array> {
  requireKey(key);
  const parts = parseSealed(sealed);
  if (expected !== undefined) requireReferenced(reference(parts), expected);
  const { encryptionKey, commitment } = deriveKeys(key, parts.sealId);
  if (!equalBytes(commitment, parts.commitment)) {
    throw new TallyError(
      'seal_wrong_key',
      'This key does not match the key commitment of the sealed document.',
    );
  }
  const aad = associatedData(parts.sealId, parts.commitment);
  const plaintext = await aesGcmDecrypt(encryptionKey, parts.nonce, aad, parts.ciphertext);
  if (plaintext !== undefined) return plaintext;
  throw new TallyError('seal_tampered', 'The key is right, but the nonce or ciphertext was changed.');
}

/** Returns the members to put into a receipt about a sealed document. Throws `seal_invalid` like `openSeal`. */
export function sealReference(sealed: JsonValue): SealReference {
  return reference(parseSealed(sealed));
}

function requireKey(key: Uint8Array): void {
  if (key.length === KEY_LENGTH) return;
  throw new TallyError('invalid_field', `A sealing key is ${KEY_LENGTH} bytes.`, { field: 'key' });
}

function deriveKeys(
  key: Uint8Array,
  sealId: Uint8Array,
): { encryptionKey: Uint8Array; commitment: Uint8Array } {
  return {
    encryptionKey: hkdfSha256(key, sealId, utf8(`${SEAL_TYPE}/key`), KEY_LENGTH),
    commitment: hkdfSha256(key, sealId, utf8(`${SEAL_TYPE}/commitment`), COMMITMENT_LENGTH),
  };
}

function associatedData(sealId: Uint8Array, commitment: Uint8Array): Uint8Array {
  return concatBytes(utf8(SEAL_TYPE), sealId, commitment);
}

function invalid(field: string | undefined, message: string, cause?: unknown): TallyError {
  return new TallyError('seal_invalid', message, { field, cause });
}

function decode(value: JsonValue | undefined, field: string, read: (text: string) => Uint8Array): Uint8Array {
  if (typeof value !== 'string') throw invalid(field, `\`${field}\` is missing or not a string.`);
  try {
    return read(value);
  } catch (cause) {
    throw invalid(field, `\`${field}\` does not have the encoding and length that sealing produces.`, cause);
  }
}

function parseSealed(sealed: JsonValue): SealBytes {
  if (typeof sealed !== 'object' || sealed === null || Array.isArray(sealed)) {
    throw invalid(undefined, 'A sealed document is a JSON object.');
  }
  const { type, alg, seal_id, nonce, key_commitment, ciphertext, ...unknown } = sealed;
  if (type !== SEAL_TYPE) throw invalid('type', `\`type\` is not "${SEAL_TYPE}".`);
  if (alg !== SEAL_ALG) throw invalid('alg', `\`alg\` is not "${SEAL_ALG}".`);
  for (const member of Object.keys(unknown)) throw invalid(member, 'A sealed document has no such member.');
  const parts = {
    sealId: decode(seal_id, 'seal_id', (text) => fromBase64url(text, SEAL_ID_LENGTH)),
    nonce: decode(nonce, 'nonce', (text) => fromBase64url(text, NONCE_LENGTH)),
    commitment: decode(key_commitment, 'key_commitment', (text) => fromHex(text, COMMITMENT_LENGTH)),
    ciphertext: decode(ciphertext, 'ciphertext', (text) => fromBase64url(text)),
  };
  if (parts.ciphertext.length >= AES_GCM_TAG_LENGTH) return parts;
  throw invalid('ciphertext', `\`ciphertext\` is shorter than its ${AES_GCM_TAG_LENGTH}-byte tag.`);
}

function reference({ sealId, ciphertext, commitment }: SealBytes): SealReference {
  return {
    seal_id: toBase64url(sealId),
    ciphertext_sha256: sha256Hex(ciphertext),
    key_commitment: toHex(commitment),
  };
}

function requireReferenced(found: SealReference, expected: SealReference): void {
  for (const field of ['seal_id', 'ciphertext_sha256', 'key_commitment'] as const) {
    const stated: unknown = expected[field];
    if (typeof stated !== 'string') throw invalid(`expected.${field}`, `The receipt has no \`${field}\`.`);
    if (stated !== found[field]) {
      throw new TallyError('seal_tampered', `\`${field}\` does not match the receipt.`, { field });
    }
  }
}
