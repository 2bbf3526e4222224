import { TallyError } from '../errors.ts';
import { setMember } from './member.ts';
import { formatPath, type PathStep } from './path.ts';
import { brokenNumberRule, brokenTextRule, type JsonRule, maxJsonDepth, ruleError } from './rules.ts';
import type { JsonObject, JsonValue } from './types.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The first UTF-16 code unit that can be part of a surrogate pair or a noncharacter. */
const firstSuspect = 0xd800;

/** Integer literals of at most this many digits are exact and in range. */
const safeDigits = 15;

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * The value of untrusted JSON bytes: JSON to the letter of RFC 8259, with the rules of I-JSON (RFC 7493), in one pass.
 * Objects have the ordinary prototype, and a member named `__proto__` is an own member like any other.
 * @param limits.maxDepth the deepest nesting of arrays and objects, 64 when absent
 * @throws json_empty, json_bom, json_not_utf8; json_syntax with the offset in UTF-16 code units; json_duplicate_member,
 * json_lone_surrogate, json_noncharacter, json_number_range, json_integer_range and json_depth with the path in `field`
 */
export function parseJson(bytes: Uint8Array, limits: { maxDepth?: number } = {}): JsonValue {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new TallyError('json_bom', 'Remove the byte order mark (EF BB BF) at the start.');
  }
  return new Parser(decodeUtf8(bytes), limits.maxDepth ?? maxJsonDepth).document();
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new TallyError('json_not_utf8', 'JSON must be UTF-8; these bytes are not.', { cause });
  }
}

class Parser {
  private readonly text: string;
  private readonly maxDepth: number;
  /** Path of the value that is being parsed; only the first `depth` steps count. */
  private readonly path: PathStep[] = [];
  private depth = 0;
  private offset = 0;

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
  }

  document(): JsonValue {
    this.peek();
    if (this.offset === this.text.length) throw new TallyError('json_empty', 'Send a JSON value.');
    const value = this.value();
    this.peek();
    if (this.offset < this.text.length) throw this.syntax('the end');
    return value;
  }

  private value(): JsonValue {
    switch (this.peek()) {
      case quote:
        return this.string(this.depth);
      case openBrace:
        return this.object();
      case openBracket:
        return this.array();
      case 0x74:
        return this.literal('true', true);
      case 0x66:
        return this.literal('false', false);
      case 0x6e:
        return this.literal('null', null);
      default:
        return this.number();
    }
  }

  private object(): JsonObject {
    this.enter();
    const object: JsonObject = {};
    let next = this.peek();
    if (next === closeBrace) return this.leave(object);
    for (;;) {
      if (next !== quote) throw this.syntax('a member name in double quotes');
      const name = this.string(this.depth - 1);
      this.path[this.depth - 1] = name;
      // An absent name reads as undefined unless Object.prototype has it, so hasOwn is seldom needed.
      if (object[name] !== undefined && Object.hasOwn(object, name)) throw this.duplicate();
      if (this.peek() !== colon) throw this.syntax('":"');
      this.offset++;
      setMember(object, name, this.value());
      next = this.peek();
      if (next === closeBrace) return this.leave(object);
      if (next !== comma) throw this.syntax('"," or "}"');
      this.offset++;
      next = this.peek();
    }
  }

  private array(): JsonValue[] {
    this.enter();
    const items: JsonValue[] = [];
    if (this.peek() === closeBracket) return this.leave(items);
    for (;;) {
      this.path[this.depth - 1] = items.length;
      items.push(this.value());
      const next = this.peek();
      if (next === closeBracket) return this.leave(items);
      if (next !== comma) throw this.syntax('"," or "]"');
      this.offset++;
    }
  }

  private enter(): void {
    if (this.depth === this.maxDepth) throw this.broken('json_depth', this.depth);
    this.depth++;
    this.offset++;
  }

  private leave<T>(container: T): T {
    this.depth--;
    this.offset++;
    return container;
  }

  /** A string or member name; `steps` of the path lead to it. */
  private string(steps: number): string {
    const { text } = this;
    const start = this.offset + 1;
    let at = start;
    let suspect = false;
    let code = text.charCodeAt(at);
    while (code !== quote) {
      if (code === backslash) return this.escapedString(steps);
      if (code >= firstSuspect) suspect = true;
      else if (!(code >= 0x20)) throw this.unterminated(at);
      code = text.charCodeAt(++at);
    }
    this.offset = at + 1;
    const value = text.slice(start, at);
    return suspect ? this.checkedText(value, steps) : value;
  }

  private escapedString(steps: number): string {
    const { text } = this;
    let value = '';
    let at = this.offset + 1;
    let copied = at;
    for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
      if (code === backslash) {
        value += text.slice(copied, at);
        value += this.escape(at);
        at += text[at + 1] === 'u' ? 6 : 2;
        copied = at;
      } else {
        if (!(code >= 0x20)) throw this.unterminated(at);
        at++;
      }
    }
    this.offset = at + 1;
    return this.checkedText(value + text.slice(copied, at), steps);
  }

  /** The character that the escape sequence at the backslash `at` stands for. */
  private escape(at: number): string {
    const letter = this.text.charAt(at + 1);
    if (letter === 'u') {
      const digits = this.text.slice(at + 2, at + 6);
      if (/^[0-9A-Fa-f]{4}$/.test(digits)) return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = escapes[letter];
    if (character === undefined) throw this.syntax('an escape sequence of JSON', at);
    return character;
  }

  private checkedText(value: string, steps: number): string {
    const rule = brokenTextRule(value);
    if (rule !== undefined) throw this.broken(rule, steps);
    return value;
  }

  private number(): number {
    const { text } = this;
    const start = this.offset;
    const negative = text.charCodeAt(start) === minus;
    const first = negative ? start + 1 : start;
    let at = first;
    let integer = 0;
    let code = text.charCodeAt(at);
    if (code === zero) {
      code = text.charCodeAt(++at);
    } else {
      for (; isDigit(code); code = text.charCodeAt(++at)) integer = integer * 10 + (code - zero);
      if (at === first) throw this.syntax(negative ? 'a digit' : 'a value', at);
    }
    if (code === dot || isExponentMark(code)) return this.realNumber(start, at);
    this.offset = at;
    if (at - first <= safeDigits) return negative ? -integer : integer;
    return this.checkedNumber(Number(text.slice(start, at)), true);
  }

  /** The number that began at `start` and whose fraction or exponent begins at `at`. */
  private realNumber(start: number, at: number): number {
    const { text } = this;
    let end = at;
    if (text.charCodeAt(end) === dot) end = this.digits(end + 1);
    if (isExponentMark(text.charCodeAt(end))) {
      const sign = text.charCodeAt(end + 1);
      end = this.digits(sign === plus || sign === minus ? end + 2 : end + 1);
    }
    this.offset = end;
    return this.checkedNumber(Number(text.slice(start, end)), false);
  }

  /** The offset after the digits at `at`, of which there must be one. */
  private digits(at: number): number {
    let end = at;
    while (isDigit(this.text.charCodeAt(end))) end++;
    if (end === at) throw this.syntax('a digit', at);
    return end;
  }

  private checkedNumber(value: number, writtenAsInteger: boolean): number {
    const rule = brokenNumberRule(value, writtenAsInteger);
    if (rule !== undefined) throw this.broken(rule, this.depth);
    return value;
  }

  private literal<T extends boolean | null>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.offset)) throw this.syntax('a value');
    this.offset += word.length;
    return value;
  }

  /** Skips white space; the code unit that follows, NaN at the end. */
  private peek(): number {
    const { text } = this;
    let code = text.charCodeAt(this.offset);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      code = text.charCodeAt(++this.offset);
    }
    return code;
  }

  private broken(rule: JsonRule, steps: number): TallyError {
    return ruleError(rule, this.path.slice(0, steps));
  }

  private duplicate(): TallyError {
    const field = formatPath(this.path.slice(0, this.depth));
    return new TallyError('json_duplicate_member', 'Each member of an object may appear once.', { field });
  }

  private unterminated(at: number): TallyError {
    return this.syntax('the rest of a string, without raw control characters,', at);
  }

  private syntax(expected: string, at = this.offset): TallyError {
    return new TallyError('json_syntax', `Expected ${expected} at offset ${at}.`);
  }
}

function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

function isExponentMark(code: number): boolean {
  return code === 0x65 || code === 0x45;
}
