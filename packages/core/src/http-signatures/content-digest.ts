import { toBase64 } from '../encoding/base64.ts';
import { equalBytes } from '../encoding/bytes.ts';
import { sha256 as defaultSha256, type Sha256 } from '../hash.ts';
import { orNull } from '../or-null.ts';
import { parseDictionary } from './structured-fields.ts';

/** The `Content-Digest` of a body (RFC 9530, section 2), with SHA-256. */
export function contentDigest(body: Uint8Array): string {
  return `sha-256=:${toBase64(defaultSha256(body))}:`;
}

/** Returns whether a `Content-Digest` holds the body's SHA-256. Digests of other algorithms beside it are not looked at. */
export function matchesContentDigest(
  field: string,
  body: Uint8Array,
  sha256: Sha256 = defaultSha256,
): boolean {
  const digest = orNull(() => parseDictionary(field).get('sha-256'));
  if (digest === null || digest === undefined || !('value' in digest)) return false;
  return digest.value instanceof Uint8Array && equalBytes(digest.value, sha256(body));
}
