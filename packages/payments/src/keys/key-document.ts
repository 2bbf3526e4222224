import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';

/** A sold key, as it is delivered. */
export interface KeyDocument extends JsonObject {
  readonly v: 'svc-key-delivery-v1';
  readonly order_id: string;
  readonly tier: string;
  /** The key's public name. */
  readonly key_id: string;
  readonly key: string;
  /** UTC. */
  readonly paid_until: string;
}

const TEXTS = ['order_id', 'tier', 'key_id', 'key', 'paid_until'] as const;

/** Null for anything else. */
export function asKeyDocument(value: JsonValue): KeyDocument | null {
  if (!isObject(value) || value.v !== 'svc-key-delivery-v1') return null;
  return TEXTS.every((name) => typeof value[name] === 'string') ? (value as KeyDocument) : null;
}
