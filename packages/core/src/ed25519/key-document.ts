import { didKeyOf } from '../did/key.ts';
import { fromBase64url, toBase64url } from '../encoding/base64url.ts';
import { TallyError } from '../errors.ts';
import { canonicalize } from '../json/canonical.ts';
import type { JsonValue } from '../json/types.ts';
import { isObject } from '../receipts/shape.ts';
import { publicKeyOf } from './signer.ts';

const KEY_TYPE = 'tally-key-v1';

/** The JCS text of a key file: `{"key_id","secret","type":"tally-key-v1"}`. @param secret the 32-byte seed */
export function keyDocument(secret: Uint8Array): string {
  return canonicalize({ type: KEY_TYPE, key_id: didKeyOf(publicKeyOf(secret)), secret: toBase64url(secret) });
}

/** The 32-byte secret in the JSON of a key file. @throws invalid_secret_key, invalid_base64url */
export function secretInKeyDocument(document: JsonValue): Uint8Array {
  if (!isObject(document) || document.type !== KEY_TYPE || typeof document.secret !== 'string') {
    throw new TallyError(
      'invalid_secret_key',
      'This is not a key file. Make one with: tally keys generate --out <file>',
    );
  }
  const secret = fromBase64url(document.secret, 32);
  if (didKeyOf(publicKeyOf(secret)) !== document.key_id) {
    throw new TallyError(
      'invalid_secret_key',
      'The key_id of the key file does not match its secret. Use a copy that was not edited.',
    );
  }
  return secret;
}
