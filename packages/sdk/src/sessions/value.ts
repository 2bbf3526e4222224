import { copyJson, type SessionValue, TallyError, utf8 } from '@tallystick/core';

/** Types whose values JSON writes as `{}`, whatever is in them. */
const OPAQUE = [Map, Set, WeakMap, WeakSet, ArrayBuffer, DataView, Blob, Error, RegExp, Promise] as const;

/**
 * The form in which a session hashes a value: plain JSON as it is; bytes as bytes; another value of JavaScript as JSON writes
 * it, in bytes where that is no I-JSON. Null for a value that is undefined. A change of the value afterwards changes nothing.
 * @throws invalid_field for an object that JSON writes without what is in it, such as a `Map`; TypeError for what it can't write, such as a circular object
 */
export function sessionValue(value: unknown): SessionValue | null {
  if (value === undefined) return null;
  if (value instanceof Uint8Array) return { raw: new Uint8Array(value) };
  const opaque = OPAQUE.find((type) => value instanceof type);
  if (opaque !== undefined) {
    throw new TallyError(
      'invalid_field',
      `JSON writes a ${opaque.name} without what is in it: give plain JSON, a text or a Uint8Array.`,
      { field: 'value' },
    );
  }
  return asJson(value) ?? written(value);
}

function asJson(value: unknown): SessionValue | null {
  try {
    return { json: copyJson(value) };
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}

function written(value: unknown): SessionValue | null {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return null;
  return asJson(JSON.parse(text)) ?? { raw: utf8(text) };
}
