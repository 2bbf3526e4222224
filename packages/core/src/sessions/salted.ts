import { utf8 } from '../encoding/bytes.ts';
import { toHex } from '../encoding/hex.ts';
import { hmacSha256, sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonValue } from '../json/types.ts';

const LABEL = 'svc-session-arg-v1';

/** The two values that a tool's receipt covers. */
export type SaltedPart = 'arguments' | 'result';

/** A value that a tool got or gave: JSON, or bytes that are no I-JSON. */
export type SessionValue = { readonly json: JsonValue } | { readonly raw: Uint8Array };

/** `salt_commitment` of an opening. */
export function commitSalt(sessionSalt: Uint8Array): string {
  return `sha256:${sha256Hex(sessionSalt)}`;
}

/**
 * The salt of one value (32 bytes). Whoever has it and the value can check that value's hash, and learns nothing of any
 * other.
 * @param sessionSalt 32 random bytes
 */
export function saltOf(sessionSalt: Uint8Array, seq: string, part: SaltedPart): Uint8Array {
  return hmacSha256(sessionSalt, utf8(`${LABEL}\n${seq}\n${part}`));
}

/** The hash of a value as it stands in a receipt: HMAC-SHA-256 over its JCS bytes, or over its own. */
export function saltedHash(salt: Uint8Array, value: SessionValue): string {
  const bytes = 'json' in value ? canonicalBytes(value.json) : value.raw;
  return `sha256:${toHex(hmacSha256(salt, bytes))}`;
}
