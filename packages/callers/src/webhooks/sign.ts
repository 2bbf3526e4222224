import { createHmac } from 'node:crypto';
import { bytesOfSecret } from './secret.ts';

/**
 * The headers of a message (Standard Webhooks, "Webhook headers" and "Signature scheme"), with a signature by each secret.
 * @param secrets `whsec_…`
 * @param now of the attempt, Unix milliseconds
 */
export function signedHeaders(
  secrets: readonly string[],
  { message, body, now }: { readonly message: string; readonly body: string; readonly now: number },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000));
  const signatureBy = (secret: string): string =>
    createHmac('sha256', bytesOfSecret(secret)).update(`${message}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': message,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${signatureBy(secret)}`).join(' '),
  };
}
