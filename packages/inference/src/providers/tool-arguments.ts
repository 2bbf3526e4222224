import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, asText } from './members.ts';
import { unsupported } from './provider.ts';

/** Parses the arguments of an earlier tool call, for an API that takes them as an object. @throws ProviderError refused */
export function toolArguments(provider: string, text: JsonValue | undefined): JsonObject {
  const value = asObject(parsed(asText(text) || '{}'));
  if (value === null)
    throw unsupported(provider, 'messages', 'The arguments of a tool call are not a JSON object.');
  return value;
}

/** The text of the arguments of a call that a model makes; some servers give an object. */
export function argumentsText(given: JsonValue | undefined): string {
  const object = asObject(given);
  return object === null ? (asText(given) ?? '') : JSON.stringify(object);
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
