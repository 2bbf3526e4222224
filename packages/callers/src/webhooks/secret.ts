import { createHmac, randomBytes } from 'node:crypto';
import { seal, unseal } from '@tallystick/kit';

const PREFIX = 'whsec_';
/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** A fresh secret: `whsec_` and base64 of 32 random bytes (Standard Webhooks, "Signature scheme"). */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The bytes with which messages are signed. */
export function bytesOfSecret(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/**
 * Encrypts a secret for the database, bound to its webhook, under a key that follows from the keyring's.
 * @param service the keyring's `apiKeySecret`
 */
export function sealSecret(service: Uint8Array, webhook: string, secret: string): string {
  return seal(keyOf(service, webhook), Buffer.from(secret)).toString('base64');
}

/** @throws Error for what was sealed under another key, or for another webhook */
export function openSecret(service: Uint8Array, webhook: string, sealed: string): string {
  return unseal(keyOf(service, webhook), Buffer.from(sealed, 'base64')).toString('utf8');
}

function keyOf(service: Uint8Array, webhook: string): Buffer {
  return createHmac('sha256', service).update(`svc-webhook-secret-v1\n${webhook}`).digest();
}
