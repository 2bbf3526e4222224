import { createHash } from 'node:crypto';
import { canonicalize, formatTimestamp, type JsonObject } from '@tallystick/core';

/** What a webhook can be told of (docs/webhooks.md). */
export const WEBHOOK_EVENTS = [
  'balance.low',
  'budget.reached',
  'key.revoked',
  'anchor.final',
  'status.changed',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The event that `POST /v1/webhooks/{id}/test` sends, whatever a webhook asks for. */
export const TEST_EVENT = 'webhook.test';

/** A message to webhooks, as it is stored and sent. */
export interface WebhookMessage {
  /** Sent as `webhook-id`; the same for every attempt and every webhook, so that a receiver can tell repetitions. */
  readonly id: string;
  readonly type: string;
  /** The JSON that is signed and sent. */
  readonly body: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/**
 * Makes a message in the form of Standard Webhooks: `{type, timestamp, data}`.
 * @param occasion names what happened; its id follows from type and occasion, so that it is stored once however often it is told
 * @param at Unix milliseconds
 */
export function webhookMessage(
  type: WebhookEvent | typeof TEST_EVENT,
  { occasion, at, data }: { readonly occasion: string; readonly at: number; readonly data: JsonObject },
): WebhookMessage {
  const digest = createHash('sha256')
    .update(canonicalize([type, occasion]))
    .digest('base64url');
  return {
    id: `msg_${digest.slice(0, 27)}`,
    type,
    body: canonicalize({ type, timestamp: formatTimestamp(at), data }),
    at,
  };
}

/**
 * The message that a key was revoked.
 * @param key id of the key
 * @param at Unix seconds
 */
export function keyRevoked(key: string, at: number): WebhookMessage {
  const data = { key_id: key, revoked_at: formatTimestamp(at * 1_000) };
  return webhookMessage('key.revoked', { occasion: key, at: at * 1_000, data });
}
