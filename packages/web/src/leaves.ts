import { type JsonValue, parseJson, parseLine, type TallyError } from '@tallystick/core';
import { attempt } from './attempt.ts';

/** The items of evidence in their order: from a JSON array, or one JSON value a line. Blank lines are skipped. @throws json_* */
export function leavesOf(bytes: Uint8Array): JsonValue[] {
  const first = bytes.find((byte) => byte > 0x20);
  if (first === 0x5b) return parseJson(bytes) as JsonValue[];
  const found: JsonValue[] = [];
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const text = bytes.subarray(start, end < 0 ? bytes.length : end);
    if (text.some((byte) => byte > 0x20)) found.push(parseLine(text, `line ${line}`));
    start += text.length + 1;
  }
  return found;
}

/** As `leavesOf`, but returns the error. */
export const readLeaves = (bytes: Uint8Array): JsonValue[] | TallyError => attempt(() => leavesOf(bytes));
