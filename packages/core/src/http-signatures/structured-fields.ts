import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { TallyError } from '../errors.ts';

/** A bare item of RFC 9651, of the kinds that signatures use. Bytes are a byte sequence; `token` an unquoted word. */
export type BareItem = string | number | boolean | Uint8Array | { readonly token: string };
type Parameters = ReadonlyMap<string, BareItem>;
export interface Item {
  readonly value: BareItem;
  readonly parameters: Parameters;
}
export interface InnerList {
  readonly items: readonly Item[];
  readonly parameters: Parameters;
}

/**
 * A Dictionary (RFC 9651, section 4.2.2) whose members are items or inner lists.
 * @param text the field's lines joined by commas
 * @throws signature_invalid
 */
export function parseDictionary(text: string): Map<string, Item | InnerList> {
  const reader = new Reader(text);
  const members = new Map<string, Item | InnerList>();
  reader.take(/ */y);
  while (!reader.ended()) {
    const key = reader.need(KEY);
    members.delete(key);
    members.set(
      key,
      reader.takes('=') ? memberValue(reader) : { value: true, parameters: parameters(reader) },
    );
    reader.take(/[ \t]*/y);
    if (reader.ended()) break;
    reader.need(/,[ \t]*(?=.)/y);
  }
  return members;
}

/** Serializes an inner list in its one canonical form (RFC 9651, section 4.1.1.1), which signatures cover. */
export function serializeInnerList({ items, parameters: own }: InnerList): string {
  return `(${items.map(serializeItem).join(' ')})${serializeParameters(own)}`;
}

/** Serializes an item in its one canonical form (RFC 9651, section 4.1.3). */
export function serializeItem({ value, parameters: own }: Item): string {
  return serializeBareItem(value) + serializeParameters(own);
}

const KEY = /[a-z*][a-z0-9_.*-]*/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  ended(): boolean {
    return this.#at === this.#text.length;
  }

  /** Reads the text that matches at this position and moves past it; null if nothing matches. @param pattern sticky */
  take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    this.#at += found?.length ?? 0;
    return found;
  }

  /** As `take`. @throws signature_invalid unless the pattern matches at this position */
  need(pattern: RegExp): string {
    const found = this.take(pattern);
    if (found === null) throw unreadable(`is not a structured field from character ${this.#at} on`);
    return found;
  }

  takes(character: string): boolean {
    const here = this.#text[this.#at] === character;
    if (here) this.#at += 1;
    return here;
  }
}

function memberValue(reader: Reader): Item | InnerList {
  return reader.takes('(') ? innerList(reader) : item(reader);
}

function innerList(reader: Reader): InnerList {
  const items: Item[] = [];
  for (;;) {
    reader.take(/ */y);
    if (reader.takes(')')) return { items, parameters: parameters(reader) };
    items.push(item(reader));
    reader.need(/(?=[ )])/y);
  }
}

function item(reader: Reader): Item {
  return { value: bareItem(reader), parameters: parameters(reader) };
}

function parameters(reader: Reader): Parameters {
  const found = new Map<string, BareItem>();
  while (reader.takes(';')) {
    reader.take(/ */y);
    const key = reader.need(KEY);
    found.delete(key);
    found.set(key, reader.takes('=') ? bareItem(reader) : true);
  }
  return found;
}

function bareItem(reader: Reader): BareItem {
  const text = reader.take(/"(?:[ !#-[\]-~]|\\["\\])*"/y);
  if (text !== null) return text.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  const base64 = reader.take(/:[A-Za-z0-9+/=]*:/y);
  if (base64 !== null) return bytesOf(base64.slice(1, -1));
  const integer = reader.take(/-?\d{1,15}(?![\d.])/y);
  if (integer !== null) return Number(integer);
  const boolean = reader.take(/\?[01]/y);
  if (boolean !== null) return boolean === '?1';
  return { token: reader.need(/[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y) };
}

function bytesOf(base64: string): Uint8Array {
  const bytes = fromBase64(base64);
  if (bytes === null) throw unreadable('holds a byte sequence that is not canonical base64');
  return bytes;
}

function unreadable(what: string): TallyError {
  return new TallyError('signature_invalid', `A header of the signature ${what} (RFC 9651).`);
}

function serializeParameters(own: Parameters): string {
  return [...own]
    .map(([key, value]) => (value === true ? `;${key}` : `;${key}=${serializeBareItem(value)}`))
    .join('');
}

function serializeBareItem(value: BareItem): string {
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? '?1' : '?0';
  return value instanceof Uint8Array ? `:${toBase64(value)}:` : value.token;
}
