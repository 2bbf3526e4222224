import { canonicalize, isObject, type JsonObject, type JsonValue, utf8 } from '../src/index.ts';
import type { Random } from './random.ts';
import { type Kind, UNSIGNED } from './sample-receipts.ts';

export interface Sample {
  readonly kind: Kind;
  readonly document: JsonObject;
}

/** Makes the JSON bytes of a mutant; it may take pieces from the other samples. */
type Mutate = (sample: Sample, others: readonly Sample[], random: Random) => Uint8Array;

const JSON_BYTES = [...utf8('{}[]",:\\ \n\t0123456789-+.eEtrufalsn_AQgw=/\u00e9')];

/** Makes one to three edits in the bytes of the JSON text. */
export const bytesMutant: Mutate = ({ document }, _others, random) => {
  let bytes = [...utf8(random.below(2) === 0 ? canonicalize(document) : freeText(document, random))];
  for (let edits = random.pick([1, 1, 1, 1, 2, 3]); edits > 0; edits--) bytes = editBytes(bytes, random);
  return Uint8Array.from(bytes);
};

function editBytes(bytes: readonly number[], random: Random): number[] {
  const at = random.below(bytes.length);
  const end = Math.min(bytes.length, at + 1 + random.below(random.pick([2, 12, 200])));
  const [head, one, tail] = [bytes.slice(0, at), bytes[at] ?? 0, bytes.slice(at + 1)];
  const byte = random.below(4) === 0 ? random.below(256) : random.pick(JSON_BYTES);
  switch (random.below(9)) {
    case 0:
      return [...head, one ^ (1 << random.below(8)), ...tail];
    case 1:
      return [...head, byte, one, ...tail];
    case 2:
      return [...head, ...tail];
    case 3:
      return [...head, byte, ...tail];
    case 4:
      return [...head, one, one, ...tail];
    case 5:
      return [...bytes.slice(0, end), ...bytes.slice(at, end), ...bytes.slice(end)];
    case 6:
      return [...head, ...bytes.slice(end)];
    case 7:
      return [...head, tail[0] ?? one, one, ...tail.slice(1)];
    default:
      return [...head, one ^ 0x20, ...tail];
  }
}

/** Changes only what no signature covers: white space, order, the way texts and numbers are written, unsigned members. */
export const neutralMutant: Mutate = ({ kind, document }, _others, random) => {
  const changed = { ...document };
  if (kind !== 'metering') {
    for (const name of UNSIGNED) {
      const choice = random.below(3);
      if (choice === 0) delete changed[name];
      if (choice === 1) changed[name] = randomValue(random);
    }
  }
  return utf8(freeText(changed, random));
};

/** Writes a value as JSON with any white space, order of members, escapes and number lexemes. */
function freeText(value: JsonValue, random: Random): string {
  const space = (): string => random.pick(['', '', '', ' ', '\n', '\t\r\n ']);
  if (typeof value === 'string') return freeString(value, random);
  if (typeof value === 'number') return freeNumber(value, random);
  if (typeof value !== 'object' || value === null) return canonicalize(value);
  if (Array.isArray(value)) {
    return `${space()}[${space()}${value.map((item) => freeText(item, random)).join(`${space()},${space()}`)}]${space()}`;
  }
  const members = shuffled(Object.entries(value), random).map(
    ([name, member]) => `${freeString(name, random)}${space()}:${space()}${freeText(member, random)}`,
  );
  return `${space()}{${space()}${members.join(`${space()},${space()}`)}}${space()}`;
}

function freeString(text: string, random: Random): string {
  if (text.isWellFormed() && random.below(8) > 0) return canonicalize(text);
  const unit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;
  return `"${Array.from({ length: text.length }, (_, index) => unit(text.charCodeAt(index))).join('')}"`;
}

function freeNumber(value: number, random: Random): string {
  const plain = canonicalize(value);
  if (!Number.isInteger(value) || value === 0 || plain.includes('e')) return plain;
  return random.pick([plain, plain, `${plain}.0`, `${plain}e0`, `${plain}.000E+00`, `${plain}0e-1`]);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const result = [...items];
  for (let index = result.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    [result[index], result[other]] = [result[other] as T, result[index] as T];
  }
  return result;
}

/** Position of a value: the object or array that holds it, and its name or index there. */
interface Place {
  readonly holder: JsonObject | JsonValue[];
  readonly name: string;
}

function placesOf(value: JsonValue): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [{ holder: value, name }, ...placesOf(member)]);
}

const read = ({ holder, name }: Place): JsonValue => (holder as JsonObject)[name] as JsonValue;

/** Writes a value, even to a member named `__proto__`, for which plain assignment would do nothing. */
function write({ holder, name }: Place, value: JsonValue): void {
  Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
}

function remove({ holder, name }: Place): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
}

const NAMES = [
  ...UNSIGNED,
  '__proto__',
  'constructor',
  'toString',
  '',
  'v',
  'profile',
  'type',
  'proof_tier',
  'receipt_profile',
  'receipt',
  'signed_body',
  'signatures',
  'sig_b64u',
  'key_id',
  'k',
  'issuer_did',
  'issuer_pubkey',
  'issuer_verified',
  'ts',
  'ok',
  'x-more',
];

const VALUES: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  4_000_000_000,
  '',
  'x',
  'standard',
  'nano',
  'pq',
  'svc-receipt-v1',
  'svc-issue-v1',
  'did:svc:alice',
  'did:svc:bob',
  'did:key:z6Mk',
  '2026-06-01T11:00:00Z',
  '9999-12-31T23:59:59Z',
  'A'.repeat(86),
  '0'.repeat(64),
];

function randomValue(random: Random): JsonValue {
  const value = random.pick(VALUES);
  const shape = random.below(8);
  if (shape === 0) return [value];
  return shape === 1 ? { [random.pick(NAMES)]: value } : value;
}

/** Makes one to three changes in the parsed document: of a member at any depth, its name, type or place. */
export const structureMutant: Mutate = ({ document }, others, random) => {
  const copy = structuredClone(document);
  for (let edits = random.pick([1, 1, 1, 2, 3]); edits > 0; edits--) {
    const places = placesOf(copy);
    if (places.length > 0) editPlace(random.pick(places), copy, random.pick(others).document, random);
  }
  return utf8(freeText(copy, random));
};

function editPlace(place: Place, document: JsonObject, other: JsonObject, random: Random): void {
  const value = read(place);
  switch (random.below(10)) {
    case 0:
      return remove(place);
    case 1:
      return write(place, randomValue(random));
    case 2:
      return write(
        { holder: isObject(value) ? value : document, name: random.pick(NAMES) },
        randomValue(random),
      );
    case 3:
      return rename(place, random);
    case 4:
      return write(place, retyped(value, random));
    case 5:
      return swapSame(place.name, document, other);
    case 6:
      return write(place, structuredClone(read(random.pick(placesOf(other)))));
    case 7:
      return random.below(2) === 0 ? swapSame('sig_b64u', document, other) : swapSame('svc', document, other);
    case 8: {
      const elsewhere = random.pick(placesOf(document));
      return write(place, structuredClone(read(elsewhere)));
    }
    default:
      return write(place, nudged(value, random));
  }
}

function rename(place: Place, random: Random): void {
  if (Array.isArray(place.holder)) return;
  const value = read(place);
  const { name } = place;
  const next = random.pick([
    random.pick(NAMES),
    name.toUpperCase(),
    ` ${name}`,
    `${name}\u0000`,
    name.slice(1),
    `${name}_`,
  ]);
  remove(place);
  write({ holder: place.holder, name: next }, value);
}

/** Gives every member of a name the value that it has in the other receipt. */
function swapSame(name: string, document: JsonObject, other: JsonObject): void {
  const source = placesOf(other).find((place) => place.name === name);
  if (source === undefined) return;
  for (const place of placesOf(document))
    if (place.name === name) write(place, structuredClone(read(source)));
}

function retyped(value: JsonValue, random: Random): JsonValue {
  if (random.below(3) === 0) return [value];
  if (typeof value === 'string')
    return random.pick<JsonValue>([Number.isFinite(Number(value)) ? Number(value) : 0, null, { value }]);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === null ? random.pick<JsonValue>(['null', '', false, 0]) : freeText(value, random);
}

/** Changes a value as little as possible. */
function nudged(value: JsonValue, random: Random): JsonValue {
  if (typeof value === 'string') return nudgedText(value, random);
  if (typeof value === 'number') return random.pick([value + 1, value - 1, -value, value / 2, value * 10]);
  if (typeof value === 'boolean') return !value;
  if (value === null) return random.pick<JsonValue>([false, 'null', {}]);
  if (Array.isArray(value)) return random.below(2) === 0 ? [...value].reverse() : [...value, null];
  return { ...value, 'x-new': null };
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function nudgedText(text: string, random: Random): string {
  const at = random.below(text.length);
  switch (random.below(6)) {
    case 0:
      return text.toUpperCase();
    case 1:
      return text.toLowerCase();
    case 2:
      return text + random.pick([' ', '\u0000', '\u200b', '=', 'A', '/']);
    case 3:
      return text.slice(0, at) + BASE64URL.charAt(random.below(BASE64URL.length)) + text.slice(at + 1);
    case 4:
      return text.normalize(random.pick(['NFC', 'NFD'])).slice(random.below(2));
    default: {
      // Changes only the spare bits of the last base64url character: another text for the same bytes.
      const last = BASE64URL.indexOf(text.at(-1) ?? '');
      return last < 0 ? `${text}.` : text.slice(0, -1) + BASE64URL.charAt(last ^ (1 + random.below(15)));
    }
  }
}
