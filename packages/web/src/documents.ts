import { isObject, type JsonValue, parseJson, parseLine, parseTimestamp } from '@tallystick/core';
import { calls } from './calls/later.ts';
import { formatText, prose } from './words.ts';

/** Kind of a dropped file. */
export type Kind = 'receipt' | 'evidence' | 'anchor' | 'trust' | 'request' | 'response';

const bundle = /"type"\s*:\s*"svc-trust-v1"/;
const anchor = /^\s*\{[^{}]*"(?:merkle_path|batch_id)"\s*:[^{}]*\}\s*$/;
const items = /^\s*(\[|\{\s*"(?:unit|receipt)"|\{[^{}]*"receipt_sha256")/;

/** Tells what a file is from its contents; one that looks like nothing else counts as a receipt, and is judged as one. */
export function kindOf(bytes: Uint8Array): Kind {
  const text = new TextDecoder().decode(bytes);
  if (bundle.test(text)) return 'trust';
  if (anchor.test(text)) return 'anchor';
  return items.test(text) ? 'evidence' : (calls().partOf(bytes) ?? 'receipt');
}

/** The trust bundle in a document: as it is served, or as `tally trust fetch` saves it, with its pin. */
export function bundleIn(document: JsonValue): JsonValue {
  return isObject(document) && isObject(document.bundle) ? document.bundle : document;
}

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

/** The Unix milliseconds of a UTC time, or undefined for an empty text. @throws RangeError for anything else */
export function timeOf(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const instant = parseTimestamp(text.trim());
  if (instant === null) throw new RangeError(formatText(prose.text.badTime, text.trim()));
  return instant.seconds * 1000 + instant.nanos / 1e6;
}
