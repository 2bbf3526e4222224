import { anchoredHash, fromBase64url, fromHex, toBase64url } from '@tallystick/core';
import { type ReceiptInput, readReceipt } from '../receipts/read.ts';

/**
 * A receipt as text, bytes or document, whose anchored hash is meant; or any SHA-256: 32 bytes, 64 hex as
 * `anchoredHash` gives, or 43 characters of base64url as the API uses.
 */
export type HashOrReceipt = ReceiptInput;

/**
 * The hash in base64url, as the API uses it. A text that does not begin with `{` is a hash, and so are 32 bytes.
 * @throws not_a_receipt, json_*, invalid_base64url
 */
export function canonicalSha256(given: HashOrReceipt): string {
  if (typeof given === 'string' && !/^\s*\{/.test(given)) {
    return toBase64url(/^[0-9a-f]{64}$/.test(given) ? fromHex(given) : fromBase64url(given, 32));
  }
  if (given instanceof Uint8Array && given.length === 32) return toBase64url(given);
  return toBase64url(fromHex(anchoredHash(readReceipt(given))));
}
