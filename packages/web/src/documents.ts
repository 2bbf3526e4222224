import { parseTimestamp } from '@tallystick/core';
import { formatText, prose } from './words.ts';

/** A receipt's place in a session; and, in the same file, another line or the session's opening. */
const place = /"session"\s*:\s*\{\s*"id"/;
const session = /\n\{|"event"\s*:\s*"open"/;

/** Tells whether a file is a session (JSON Lines), and not one of its receipts. */
export function isSession(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes);
  return place.test(text) && session.test(text);
}

/** The Unix milliseconds of a UTC time. @throws RangeError for anything else */
export function timeOf(text: string): number {
  const instant = parseTimestamp(text);
  if (instant === null) throw new RangeError(formatText(prose.text.badTime, text));
  return instant.seconds * 1000 + instant.nanos / 1e6;
}
