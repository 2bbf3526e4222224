import { equalBytes, utf8 } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { hkdfSha256, hmacSha256, sha256Hex } from '../hash.ts';

const LENGTH = 32;
const INFO_PREFIX = 'svc-metering-v1/';

/** What a metering receipt commits to, one key each (spec/metering.md, Commitments). */
export const COMMITMENT_LABELS = ['machine', 'customer', 'rate', 'settlement'] as const;
export type CommitmentLabel = (typeof COMMITMENT_LABELS)[number];

/** Values that open one commitment and no other. */
export interface Opening {
  /** 32 bytes: `openingKey` of the salt and the label. */
  readonly subkey: Uint8Array;
  /** The committed text. */
  readonly value: string;
  /** Commitment as in the receipt: 64 hex. */
  readonly commitment: string;
}

/** 32 random bytes for the commitments of one bill. Keep them: without the salt nothing can be opened. */
export function newSalt(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(LENGTH));
}

/**
 * SHA-256 of the salt, which a receipt carries as `salt_commitment`: 64 hex.
 * @throws invalid_field for a salt that is not 32 bytes
 */
export function saltCommitment(salt: Uint8Array): string {
  return sha256Hex(withLength(salt, 'salt'));
}

/**
 * The commitment to a text under a label: 64 hex. For a settlement of class `none` the value is empty.
 * @throws invalid_field for a salt that is not 32 bytes or a value with half of a surrogate pair
 */
export function commit(salt: Uint8Array, label: CommitmentLabel, value: string): string {
  return toHex(commitmentOf(openingKey(salt, label), value));
}

/**
 * The key under which a label's value is committed, 32 bytes: HKDF-SHA256 (RFC 5869) of the salt. Handing it out
 * with the value opens that commitment; the salt and the other keys do not follow from it.
 * @throws invalid_field for a salt that is not 32 bytes
 */
export function openingKey(salt: Uint8Array, label: CommitmentLabel): Uint8Array {
  return hkdfSha256(withLength(salt, 'salt'), new Uint8Array(0), utf8(INFO_PREFIX + label), LENGTH);
}

/**
 * Returns whether the commitment is to this value under this key.
 * @throws invalid_field for a key that is not 32 bytes (HMAC would pad a shorter one, and two keys could open one
 * commitment), invalid_hex for a commitment that is not 64 lower-case hex
 */
export function checkOpening({ subkey, value, commitment }: Opening): boolean {
  return equalBytes(commitmentOf(withLength(subkey, 'subkey'), value), fromHex(commitment, LENGTH));
}

function commitmentOf(subkey: Uint8Array, value: string): Uint8Array {
  if (!value.isWellFormed()) {
    throw new TallyError(
      'invalid_field',
      'The value contains an unpaired surrogate, which UTF-8 cannot encode.',
      {
        field: 'value',
      },
    );
  }
  return hmacSha256(subkey, utf8(value));
}

function withLength(bytes: Uint8Array, field: string): Uint8Array {
  if (bytes.length === LENGTH) return bytes;
  throw new TallyError('invalid_field', `${field} is ${LENGTH} bytes, not ${bytes.length}.`, { field });
}
