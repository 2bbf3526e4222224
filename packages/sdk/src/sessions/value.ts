import { copyJson, type SessionValue, TallyError, utf8 } from '@tallystick/core';

/**
 * The form in which a session hashes a value: plain JSON as it is; bytes as bytes; another value of JavaScript as JSON writes
 * it, in bytes where that is no I-JSON. Null for a value that is undefined.
 * @throws TypeError for what JSON can't write, such as a circular object
 */
export function sessionValue(value: unknown): SessionValue | null {
  if (value === undefined) return null;
  if (value instanceof Uint8Array) return { raw: value };
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
