import type { JsonObject } from '@tallystick/core';
import { asObject, asText } from './members.ts';

/** Where Google exchanges assertions for access tokens. */
export const googleTokens = 'https://oauth2.googleapis.com/token';

export interface ServiceAccount {
  readonly email: string;
  /** PEM of PKCS#8. */
  readonly privateKey: string;
  readonly keyId: string | null;
  /** Address that its assertions are exchanged at, which they name as their audience (RFC 7523, section 3). */
  readonly tokenUri: string;
}

/** The service account that a JSON key is of; null if it is none. */
export function serviceAccountOf(text: string): ServiceAccount | null {
  let json: JsonObject | null;
  try {
    json = asObject(JSON.parse(text));
  } catch {
    return null;
  }
  const [email, privateKey] = [asText(json?.['client_email']), asText(json?.['private_key'])];
  if (email === null || privateKey?.startsWith('-----BEGIN PRIVATE KEY-----') !== true) return null;
  const keyId = asText(json?.['private_key_id']);
  return { email, privateKey, keyId, tokenUri: asText(json?.['token_uri']) ?? googleTokens };
}
