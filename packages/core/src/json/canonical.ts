import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { quoteJson } from './quote.ts';
import { maxJsonDepth, ruleError } from './rules.ts';
import type { JsonObject, JsonValue } from './types.ts';

/**
 * The canonical text of a JSON value (RFC 8785): members sorted by UTF-16 code units, ECMAScript number text,
 * minimal escapes. What is not exactly a JSON value is refused, never skipped or converted.
 * @throws json_not_plain for undefined, functions, symbols, bigints, class instances, holes in arrays and
 * numbers that are not finite; json_lone_surrogate; json_depth past 64 levels, which ends a cycle too
 */
export function canonicalize(value: JsonValue): string {
  return write(value, 0);
}

/** The UTF-8 bytes of `canonicalize(value)`: what is hashed and signed. */
export function canonicalBytes(value: JsonValue): Uint8Array {
  return utf8(canonicalize(value));
}

function write(value: JsonValue, depth: number): string {
  if (typeof value === 'string') return writeText(value);
  if (typeof value === 'number') return writeNumber(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (typeof value !== 'object') throw notPlain(`a ${typeof value}`);
  if (depth === maxJsonDepth) throw ruleError('json_depth', []);
  return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
}

/** Matches anything but characters of the basic plane that stand for themselves; one test is enough for most texts. */
const special = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function writeText(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw ruleError('json_lone_surrogate', []);
  return quoteJson(text);
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw notPlain(String(value));
  return String(value);
}

function writeArray(items: readonly JsonValue[], depth: number): string {
  if (Object.getPrototypeOf(items) !== Array.prototype) throw notPlain('an instance of an array subclass');
  let text = '[';
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ',';
    text += write(items[index] as JsonValue, depth);
  }
  return `${text}]`;
}

/** Member names sorted by UTF-16 code units. Canonical input is sorted already, which is cheaper to test than to sort. */
function sortedNames(object: JsonObject): string[] {
  const names = Object.keys(object);
  for (let i = 1; i < names.length; i++) {
    if ((names[i - 1] as string) > (names[i] as string)) return names.sort();
  }
  return names;
}

function writeObject(object: JsonObject, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain('an instance of a class');
  let text = '{';
  for (const name of sortedNames(object)) {
    if (text.length > 1) text += ',';
    text += `${writeText(name)}:${write(object[name] as JsonValue, depth)}`;
  }
  return `${text}}`;
}

function notPlain(what: string): TallyError {
  return new TallyError('json_not_plain', `Only JSON values have a canonical form; found ${what}.`);
}
