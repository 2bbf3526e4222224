import { formatPath, type JsonValue, TallyError } from '@tallystick/core';
import type { z } from 'zod';
import { alternatives } from './alternatives.ts';
import { suggest } from './suggest.ts';

type Issue = z.core.$ZodIssue;
type Steps = readonly (string | number)[];

/**
 * Returns the value itself, typed by the schema: schemas check, and neither default nor transform. Objects in a schema
 * are `z.strictObject`, so that nothing unknown passes.
 *
 * @param inQuery names of query parameters, to explain one that the body holds by mistake
 * @throws missing_field, unknown_field (the message names the known ones) or invalid_field, with `field`
 */
export function validate<T>(schema: z.ZodType<T>, value: JsonValue, inQuery: readonly string[] = []): T {
  const result = schema.safeParse(value, naming);
  // Not zod's copy: that lacks a member `__proto__`, which a signature may cover.
  if (result.success) return value as T;
  refuseMisplaced(result.error.issues, inQuery);
  throw toError(result.error.issues, value, []);
}

/** @throws unknown_field for a member of the body that is a parameter of the query */
function refuseMisplaced(issues: readonly Issue[], inQuery: readonly string[]): void {
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys' || issue.path.length > 0) continue;
    const name = issue.keys.find((key) => inQuery.includes(key));
    if (name === undefined) continue;
    const message = `${name} belongs in the query, not in the body: ?${name}=….`;
    throw new TallyError('unknown_field', message, { field: name });
  }
}

/** The names of an object schema's members; none for another schema or for undefined. */
export function namesOf(schema: z.ZodType | undefined): string[] {
  return knownNames(schema);
}

/** Zod's own messages, except for unknown members, where the known ones are named. */
const naming: z.core.ParseContext<Issue> = {
  error: (issue) => (issue.code === 'unrecognized_keys' ? knownNames(issue.inst).join('\n') : undefined),
};

function knownNames(schema: unknown): string[] {
  const definition = (schema as z.ZodType | undefined)?.def;
  return definition?.type === 'object' ? Object.keys((definition as z.core.$ZodObjectDef).shape) : [];
}

/** The first issue to report. Unknown members come first: for `inputs` in place of `input`, that is the better message. */
function toError(issues: readonly Issue[], value: JsonValue, prefix: Steps): TallyError {
  const issue = issues.find((one) => one.code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) return new TallyError('invalid_field', 'The value is not allowed here.');
  const steps = [...prefix, ...(issue.path as Steps)];
  if (issue.code === 'unrecognized_keys') return unknownField(issue, steps);
  if (issue.code === 'invalid_union' && issue.errors.length > 0)
    return toError(otherLiterals(issue.errors) ?? closest(issue.errors), value, steps);
  const field = formatPath(steps);
  if (lookUp(value, steps) === undefined) {
    return new TallyError('missing_field', `${named(field)} is required.`, { field });
  }
  return new TallyError('invalid_field', `${named(field)}: ${lowerFirst(issue.message)}.`, { field });
}

function unknownField(issue: z.core.$ZodIssueUnrecognizedKeys, steps: Steps): TallyError {
  const [key = ''] = issue.keys;
  const known = issue.message === '' ? [] : issue.message.split('\n');
  const near = suggest(key, known);
  const field = formatPath([...steps, key]);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  const list = known.length === 0 ? 'No field is allowed here.' : `Known fields: ${known.join(', ')}.`;
  return new TallyError('unknown_field', `${named(field)} is not known.${hint} ${list}`, { field });
}

type Branches = readonly (readonly Issue[])[];

/** Where every branch of a union wants another value in the same place: one issue that lists them all; else null. */
function otherLiterals(branches: Branches): readonly Issue[] | null {
  const literals = branches.flatMap((issues) => issues.find(({ code }) => code === 'invalid_value') ?? []);
  const places = new Set(literals.map(({ path }) => path.join('.')));
  const [first] = literals;
  if (first === undefined || literals.length < branches.length || places.size > 1) return null;
  const values = literals.flatMap((one) => (one.code === 'invalid_value' ? one.values.map(asJson) : []));
  return [{ ...first, message: `expected ${alternatives(values)}` }];
}

const asJson = (value: unknown): string => JSON.stringify(value);

/** Codes of issues with a value of the right type. */
const OF_THE_TYPE: ReadonlySet<string> = new Set(['too_big', 'too_small', 'custom']);

/** The issues of the union's branch whose type the value has, or else of the one that it got furthest into. */
function closest(branches: Branches): readonly Issue[] {
  const typed = branches.find((issues) => issues.every(({ code }) => OF_THE_TYPE.has(code)));
  if (typed !== undefined) return typed;
  const depth = (branch: readonly Issue[]): number => Math.max(...branch.map((issue) => issue.path.length));
  return [...branches].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? [];
}

function lookUp(value: JsonValue, steps: Steps): JsonValue | undefined {
  let here: JsonValue | undefined = value;
  for (const step of steps) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, JsonValue>)[step];
  }
  return here;
}

function named(field: string | undefined): string {
  return field ?? 'The body';
}

function lowerFirst(message: string): string {
  const text = message.replace(/^Invalid input: /, '');
  return text.charAt(0).toLowerCase() + text.slice(1);
}
