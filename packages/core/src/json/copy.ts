import { TallyError } from '../errors.ts';
import { setMember } from './member.ts';
import { formatPath, type PathStep } from './path.ts';
import { brokenNumberRule, brokenTextRule, maxJsonDepth, ruleError } from './rules.ts';
import type { JsonObject, JsonValue } from './types.ts';

/**
 * A plain copy of an untrusted value in memory, held to the rules of `parseJson`. Every member is read exactly
 * once, so that a getter or proxy cannot show the checks one value and the signature another.
 * @throws json_not_plain for a value that JSON can't express, or, with the cause, when reading the value threw;
 * json_lone_surrogate, json_noncharacter, json_number_range, json_integer_range, json_depth, all with the path
 */
export function copyJson(value: unknown): JsonValue {
  const path: PathStep[] = [];
  try {
    return copy(value, path);
  } catch (cause) {
    if (cause instanceof TallyError) throw cause;
    throw notPlain('a member that cannot be read', path, cause);
  }
}

function copy(value: unknown, path: PathStep[]): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return copyText(value, path);
  if (typeof value === 'number') return copyNumber(value, path);
  if (typeof value !== 'object') throw notPlain(`a value of type ${typeof value}`, path);
  if (path.length === maxJsonDepth) throw ruleError('json_depth', path);
  return Array.isArray(value) ? copyArray(value, path) : copyObject(value, path);
}

function copyText(text: string, path: readonly PathStep[]): string {
  const broken = brokenTextRule(text);
  if (broken !== undefined) throw ruleError(broken, path);
  return text;
}

function copyNumber(value: number, path: readonly PathStep[]): number {
  const broken = brokenNumberRule(value, false);
  if (broken !== undefined) throw ruleError(broken, path);
  return value;
}

function copyArray(items: readonly unknown[], path: PathStep[]): JsonValue[] {
  if (Object.getPrototypeOf(items) !== Array.prototype) throw notPlain('an array subclass', path);
  const { length } = items;
  if (Reflect.ownKeys(items).length !== length + 1) throw notPlain('an array with holes or members', path);
  const result: JsonValue[] = [];
  for (let index = 0; index < length; index++) {
    path.push(index);
    result.push(copy(items[index], path));
    path.pop();
  }
  return result;
}

function copyObject(object: object, path: PathStep[]): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain('an instance of a class', path);
  const result: JsonObject = {};
  for (const name of Reflect.ownKeys(object)) {
    if (typeof name === 'symbol') throw notPlain('a member named by a symbol', path);
    copyText(name, path);
    path.push(name);
    setMember(result, name, copy((object as Record<string, unknown>)[name], path));
    path.pop();
  }
  return result;
}

function notPlain(what: string, path: readonly PathStep[], cause?: unknown): TallyError {
  return new TallyError('json_not_plain', `Expected plain JSON, found ${what}.`, {
    field: formatPath(path),
    ...(cause === undefined ? {} : { cause }),
  });
}
