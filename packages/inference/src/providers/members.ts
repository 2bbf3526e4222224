import type { JsonObject, JsonValue } from '@tallystick/core';

/** Readers of unknown JSON: null if the value has another type. */

export function asObject(value: JsonValue | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

export function asText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** The objects of an array; empty if it is no array. */
export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== null) : [];
}

/** Only the members that have a value. */
export function present(members: Record<string, JsonValue | undefined>): JsonObject {
  const object: JsonObject = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) object[name] = value;
  return object;
}
