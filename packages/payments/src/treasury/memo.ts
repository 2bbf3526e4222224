import { isObject, parseJson } from '@tallystick/core';

/** The members that a memo may have. Others are the sender's own and are ignored. */
const FIELDS = ['tier', 'contact', 'issuer_did', 'account', 'key'] as const;
export type MemoFields = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

export type Memo =
  | { readonly kind: 'none' }
  /** The bytes are no memo, or name none of our members. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'read'; readonly fields: MemoFields };

const MAX_BYTES = 2_048;
/** Separates pairs: a value contains none of these. */
const SEPARATOR = /[\s;&,]+/;

/**
 * Reads the bytes after a transfer's calldata (specification 5.4): a JSON object, or `key=value` pairs with white space,
 * `;`, `&` or `,` between them. Zero bytes at the end are padding.
 */
export function readMemo(bytes: Uint8Array | null): Memo {
  const end = bytes === null ? 0 : bytes.findLastIndex((byte) => byte !== 0) + 1;
  if (bytes === null || end === 0) return { kind: 'none' };
  if (end > MAX_BYTES) return BROKEN;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, end)).trim();
    const fields = text.startsWith('{') ? fromJson(text) : fromPairs(text);
    const values = Object.values(fields ?? {});
    // PostgreSQL takes no zero byte: a transfer with one could not end.
    if (fields === null || values.length === 0 || values.some((value) => value.includes('\0'))) return BROKEN;
    return { kind: 'read', fields };
  } catch {
    return BROKEN;
  }
}

const BROKEN: Memo = { kind: 'broken' };

function fromJson(text: string): MemoFields | null {
  const value = parseJson(new TextEncoder().encode(text));
  if (!isObject(value)) return null;
  const known = FIELDS.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]] as const]));
  if (known.some(([, field]) => typeof field !== 'string' || field === '')) return null;
  return Object.fromEntries(known) as MemoFields;
}

function fromPairs(text: string): MemoFields | null {
  const found = new Map<string, string>();
  for (const pair of text.split(SEPARATOR).filter((part) => part !== '')) {
    const [, name, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined || found.has(name)) return null;
    found.set(name, value);
  }
  return Object.fromEntries([...found].filter(([name]) => FIELDS.some((known) => known === name)));
}
