import { isObject, type JsonValue, parseTimestamp } from '@tallystick/core';
import { later } from './later/run.ts';
import { formatText, prose } from './words.ts';

/** Kind of a dropped file. */
export type Kind = 'receipt' | 'session' | 'evidence' | 'anchor' | 'trust' | 'request' | 'response';

const bundle = /"type"\s*:\s*"svc-trust-v1"/;
const anchor = /^\s*\{[^{}]*"(?:merkle_path|batch_id)"\s*:[^{}]*\}\s*$/;
const items = /^\s*(\[|\{\s*"(?:unit|receipt)"|\{[^{}]*"receipt_sha256")/;
/** A receipt's place in a session; and, in the same file, another line or the session's opening. */
const place = /"session"\s*:\s*\{\s*"id"/;
const session = /\n\{|"event"\s*:\s*"open"/;

/** Tells what a file is from its contents; one that looks like nothing else counts as a receipt, and is judged as one. */
export function kindOf(bytes: Uint8Array): Kind {
  const text = new TextDecoder().decode(bytes);
  if (bundle.test(text)) return 'trust';
  if (anchor.test(text)) return 'anchor';
  if (items.test(text)) return 'evidence';
  return isSession(text) ? 'session' : (later().partOf(bytes) ?? 'receipt');
}

/** Tells whether a text is a session (JSON Lines), and not one of its receipts. */
export function isSession(text: string): boolean {
  return place.test(text) && session.test(text);
}

/** The trust bundle in a document: as it is served, or as `tally trust fetch` saves it, with its pin. */
export function bundleIn(document: JsonValue): JsonValue {
  return isObject(document) && isObject(document.bundle) ? document.bundle : document;
}

/** The Unix milliseconds of a UTC time, or undefined for an empty text. @throws RangeError for anything else */
export function timeOf(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const instant = parseTimestamp(text.trim());
  if (instant === null) throw new RangeError(formatText(prose.text.badTime, text.trim()));
  return instant.seconds * 1000 + instant.nanos / 1e6;
}
