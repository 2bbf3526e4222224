import { createHash } from 'node:crypto';

/** The SHA-256 of a text, as `canonical_sha256` takes it. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
