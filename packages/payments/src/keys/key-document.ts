import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';

/** A sold key in the form in which it is delivered. */
export interface KeyDocument extends JsonObject {
  readonly v: 'svc-key-delivery-v1';
  readonly order_id: string;
  readonly tier: string;
  /** The key's public id. */
  readonly key_id: string;
  readonly key: string;
  /** UTC time until which the key is paid. */
  readonly paid_until: string;
}

const TEXTS = ['order_id', 'tier', 'key_id', 'key', 'paid_until'] as const;

/** The value as a key document; null if it is none. */
export function asKeyDocument(value: JsonValue): KeyDocument | null {
  if (!isObject(value) || value.v !== 'svc-key-delivery-v1') return null;
  return TEXTS.every((name) => typeof value[name] === 'string') ? (value as KeyDocument) : null;
}
