import { type ErrorCode, TallyError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { parseTimestamp } from '../time.ts';

/** The first member that breaks a document's shape: its path, and what a valid document has there. */
export interface Fault {
  readonly field: string;
  readonly expected: string;
}

/** Marks a rule with the type that it lets pass. At run time no rule has such a member. */
declare const passes: unique symbol;

/**
 * Checks the value at `path`: returns the fault, or null if the value is a `T`. The rule is the one declaration of
 * a document's shape: its type is `Infer<typeof rule>`.
 */
export interface Rule<out T = unknown> {
  (value: JsonValue | undefined, path: string): Fault | null;
  readonly [passes]?: T;
}

/** The type that a rule lets pass. */
export type Infer<R> = R extends Rule<infer T> ? T : never;

type Rules = Readonly<Record<string, Rule>>;
type Flat<T> = { [K in keyof T]: T[K] };

/** Type of an object whose members keep to these rules. It may have further members. */
export type Members<Required extends Rules, Optional = unknown> = Flat<
  { readonly [K in keyof Required]: Infer<Required[K]> } & {
    readonly [K in keyof Optional]?: Infer<Optional[K]>;
  }
>;

/** A plain object, as opposed to null or an array. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the document if it passes the rule. @param code of the error that is thrown otherwise; `field` names the member */
export function requireShape<T extends object>(
  rule: Rule<T>,
  document: JsonValue,
  code: ErrorCode = 'invalid_field',
): JsonObject & T {
  const fault = rule(document, '');
  if (fault === null) return document as JsonObject & T;
  throw new TallyError(code, `${fault.field} must be ${fault.expected}.`, { field: fault.field });
}

const rule =
  <T>(expected: string, holds: (value: JsonValue) => boolean): Rule<T> =>
  (value, path) =>
    value !== undefined && holds(value) ? null : { field: path, expected };

export const constant = <const T extends string>(literal: T): Rule<T> =>
  rule(`the string ${literal}`, (v) => v === literal);

export const oneOf = <const T extends string>(...literal: readonly T[]): Rule<T> =>
  rule(`one of ${literal.join(', ')}`, (v) => (literal as readonly JsonValue[]).includes(v));

export const pattern = (expression: RegExp, expected: string): Rule<string> =>
  rule(expected, (v) => typeof v === 'string' && expression.test(v));

export const boolean: Rule<boolean> = rule('true or false', (v) => typeof v === 'boolean');

export const text: Rule<string> = rule('a string', (v) => typeof v === 'string');

export const nonEmptyText: Rule<string> = rule(
  'a non-empty string',
  (v) => typeof v === 'string' && v !== '',
);

/** An integer in [min, max]. */
export const integer = (min: number, max: number = Number.MAX_SAFE_INTEGER): Rule<number> =>
  rule(
    `an integer from ${min} to ${max}`,
    (v) => Number.isSafeInteger(v) && Number(v) >= min && Number(v) <= max,
  );

/** A number in [min, max]. */
export const numberIn = (min: number, max: number): Rule<number> =>
  rule(`a number from ${min} to ${max}`, (v) => typeof v === 'number' && v >= min && v <= max);

export const nullable =
  <T>(inner: Rule<T>): Rule<T | null> =>
  (value, path) =>
    value === null ? null : inner(value, path);

/** A list whose items all pass the rule; `expected` says what the whole must be. */
export const listOf =
  <T>(item: Rule<T>, expected = 'a list', most = Infinity): Rule<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value) || value.length > most) return { field: path, expected };
    for (const [index, one] of value.entries()) {
      const fault = item(one, `${path}[${index}]`);
      if (fault !== null) return fault;
    }
    return null;
  };

/** An object with these members; members beyond them are allowed unless it is `closed`. */
export function object<Required extends Rules, Optional extends Rules>(
  required: Required,
  options: { optional: Optional; closed?: boolean },
): Rule<Members<Required, Optional>>;
export function object<Required extends Rules>(
  required: Required,
  options?: { closed?: boolean },
): Rule<Members<Required>>;
export function object(required: Rules, options: { optional?: Rules; closed?: boolean } = {}): Rule {
  const needed = Object.entries(required);
  const optional = Object.entries(options.optional ?? {});
  const known = new Set([...needed, ...optional].map(([name]) => name));
  return (value, path) => {
    if (!isObject(value)) return { field: path || '(document)', expected: 'an object' };
    const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
    for (const [name, check] of needed) {
      const fault = check(Object.hasOwn(value, name) ? value[name] : undefined, at(name));
      if (fault !== null) return fault;
    }
    for (const [name, check] of optional) {
      const fault = Object.hasOwn(value, name) ? check(value[name], at(name)) : null;
      if (fault !== null) return fault;
    }
    if (options.closed) {
      for (const name of Object.keys(value)) {
        if (!known.has(name)) return { field: at(name), expected: 'absent' };
      }
    }
    return null;
  };
}

/** The id of a receipt of this kind (id.ts). */
export const receiptIdOf = (kind: string): Rule<string> =>
  pattern(new RegExp(`^r_${kind}_[0-9]{10,}_[0-9a-f]{12}$`), `r_${kind}_<seconds>_<12 hex>`);

export const hex64: Rule<string> = pattern(/^[0-9a-f]{64}$/, '64 lower-case hex characters');
export const sha256Text: Rule<string> = pattern(
  /^sha256:[0-9a-f]{64}$/,
  'sha256: and 64 lower-case hex characters',
);
/** 64 bytes as base64url without padding; the last character's four spare bits are zero. */
export const signature: Rule<string> = pattern(
  /^[A-Za-z0-9_-]{85}[AQgw]$/,
  '86 characters of canonical base64url',
);
/** 32 bytes as base64url without padding; the last character's two spare bits are zero. */
export const bytes32: Rule<string> = pattern(
  /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/,
  '43 characters of canonical base64url',
);
export const did: Rule<string> = pattern(/^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/, 'a DID');
/** Specification 2.1, `key_id`. */
export const keyId: Rule<string> = pattern(
  /^did:(svc|web|key):[A-Za-z0-9._:%-]+$/,
  'a did:svc, did:web or did:key',
);
export const timestamp: Rule<string> = rule(
  'a UTC timestamp YYYY-MM-DDThh:mm:ss[.fraction]Z',
  (v) => typeof v === 'string' && parseTimestamp(v) !== null,
);
