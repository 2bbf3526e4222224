import {
  canonicalize,
  fromBase64url,
  type JsonObject,
  type JsonValue,
  parseJson,
  toBase64url,
  utf8,
} from '@tallystick/core';
import { asText, objectsOf, present } from '../../providers/members.ts';

/** Marks an `encrypted_content` that this service made. */
const PACKED = 'tally1.';

/** Whether the item is a reasoning item of an answer that was translated here, which only a translated call can continue. */
export function isPackedHere(item: JsonObject): boolean {
  return item['type'] === 'reasoning' && (asText(item['encrypted_content']) ?? '').startsWith(PACKED);
}

/**
 * The `encrypted_content` of a translated reasoning item: all `reasoning_details` of the inner answer, so that
 * signatures and encrypted reasoning of any provider come back with the next call. It is opaque to clients, not secret.
 */
export function packDetails(details: readonly JsonObject[]): string {
  return PACKED + toBase64url(utf8(canonicalize([...details])));
}

/** The `reasoning_details` of a reasoning item of the request. Null if the packed ones are damaged. */
export function detailsOf(item: JsonObject): JsonObject[] | null {
  const { encrypted_content: sealed, id } = item;
  if (isPackedHere(item)) return unpacked(asText(sealed) ?? '');
  const own = present({ id: id ?? undefined });
  return [
    ...objectsOf(item['summary']).map(({ text }) => ({
      type: 'reasoning.summary',
      summary: text ?? '',
      ...own,
    })),
    ...objectsOf(item['content']).map(({ text }) => ({ type: 'reasoning.text', text: text ?? '', ...own })),
    ...(typeof sealed === 'string'
      ? [{ type: 'reasoning.encrypted', data: sealed, format: FORMAT, ...own }]
      : []),
  ];
}

/** Who can read the encrypted reasoning that the API itself makes. */
export const FORMAT = 'openai-responses-v1';

function unpacked(text: string): JsonObject[] | null {
  try {
    const value: JsonValue = parseJson(fromBase64url(text.slice(PACKED.length)));
    const details = objectsOf(value);
    return Array.isArray(value) && details.length === value.length ? details : null;
  } catch {
    return null;
  }
}
