import { TallyError } from '../errors.ts';
import { formatPath, type PathStep } from './path.ts';

/** The deepest nesting of arrays and objects in anything that is signed; a bare string or number is at depth 0. */
export const maxJsonDepth = 64;

const ruleMessages = {
  json_lone_surrogate: 'A string contains an unpaired surrogate.',
  json_noncharacter: 'A string contains a Unicode noncharacter.',
  json_number_range: 'A number is not a finite double.',
  json_integer_range: 'An integer is larger than 2^53-1: send a string.',
  json_depth: 'It is nested too deeply.',
} as const;

/** The rules of I-JSON (RFC 7493, section 2) that go beyond JSON's grammar, by the code of the error they give. */
export type JsonRule = keyof typeof ruleMessages;

const noncharacter = /\p{Noncharacter_Code_Point}/u;

/** The rule that a string or member name breaks, if any. */
export function brokenTextRule(text: string): JsonRule | undefined {
  if (!text.isWellFormed()) return 'json_lone_surrogate';
  return noncharacter.test(text) ? 'json_noncharacter' : undefined;
}

/**
 * The rule that a number breaks, if any. From 1e21 on canonical text has an exponent, so such a double is
 * refused only when it was written as an integer literal; below, its canonical text would be one.
 */
export function brokenNumberRule(value: number, writtenAsInteger: boolean): JsonRule | undefined {
  const size = Math.abs(value);
  if (size <= Number.MAX_SAFE_INTEGER) return undefined;
  if (writtenAsInteger || size < 1e21) return 'json_integer_range';
  return Number.isFinite(value) ? undefined : 'json_number_range';
}

/** The error for a broken rule at `path`. */
export function ruleError(rule: JsonRule, path: readonly PathStep[]): TallyError {
  return new TallyError(rule, ruleMessages[rule], { field: formatPath(path) });
}
