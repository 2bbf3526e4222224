import type { JsonObject, JsonValue } from '../json/types.ts';
import { parseTimestamp } from '../time.ts';

/** The first member that breaks a document's shape: its path, and what stands there in a valid one. */
export interface Fault {
  readonly field: string;
  readonly expected: string;
}

/** Checks the value at `path`; null when it is as it should be. */
export type Rule = (value: JsonValue | undefined, path: string) => Fault | null;

/** A plain object, as opposed to null or an array. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const rule =
  (expected: string, holds: (value: JsonValue) => boolean): Rule =>
  (value, path) =>
    value !== undefined && holds(value) ? null : { field: path, expected };

export const constant = (wanted: string): Rule => rule(`the string ${wanted}`, (v) => v === wanted);

export const oneOf = (...wanted: readonly string[]): Rule =>
  rule(`one of ${wanted.join(', ')}`, (v) => typeof v === 'string' && wanted.includes(v));

export const pattern = (expression: RegExp, expected: string): Rule =>
  rule(expected, (v) => typeof v === 'string' && expression.test(v));

export const boolean: Rule = rule('true or false', (v) => typeof v === 'boolean');

export const text: Rule = rule('a string', (v) => typeof v === 'string');

export const nonEmptyText: Rule = rule('a non-empty string', (v) => typeof v === 'string' && v !== '');

/** An integer in [min, max]. */
export const integer = (min: number, max: number = Number.MAX_SAFE_INTEGER): Rule =>
  rule(
    `an integer from ${min} to ${max}`,
    (v) => Number.isSafeInteger(v) && Number(v) >= min && Number(v) <= max,
  );

/** A number in [min, max]. */
export const numberIn = (min: number, max: number): Rule =>
  rule(`a number from ${min} to ${max}`, (v) => typeof v === 'number' && v >= min && v <= max);

export const nullable =
  (inner: Rule): Rule =>
  (value, path) =>
    value === null ? null : inner(value, path);

/** An object with these members; members beyond them are allowed unless it is `closed`. */
export function object(
  required: Readonly<Record<string, Rule>>,
  options: { optional?: Readonly<Record<string, Rule>>; closed?: boolean } = {},
): Rule {
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

export const hex64: Rule = pattern(/^[0-9a-f]{64}$/, '64 lower-case hex characters');
export const sha256Text: Rule = pattern(/^sha256:[0-9a-f]{64}$/, 'sha256: and 64 lower-case hex characters');
/** 64 bytes as base64url without padding; the last character's four spare bits are zero. */
export const signature: Rule = pattern(/^[A-Za-z0-9_-]{85}[AQgw]$/, '86 characters of canonical base64url');
/** 32 bytes as base64url without padding; the last character's two spare bits are zero. */
export const bytes32: Rule = pattern(
  /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/,
  '43 characters of canonical base64url',
);
export const did: Rule = pattern(/^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/, 'a DID');
/** Specification 2.1, `key_id`. */
export const keyId: Rule = pattern(/^did:(svc|web|key):[A-Za-z0-9._:%-]+$/, 'a did:svc, did:web or did:key');
export const timestamp: Rule = rule(
  'a UTC timestamp YYYY-MM-DDThh:mm:ss[.fraction]Z',
  (v) => typeof v === 'string' && parseTimestamp(v) !== null,
);
