import { isObject, type JsonObject, type JsonValue } from '../../packages/core/src/index.ts';

/** A copy of `document` with another value at `path` (`request.hash`). */
export function withMember(document: JsonObject, path: string, value: JsonValue): JsonObject {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...document, [name]: value };
  return { ...document, [name]: withMember(objectAt(document, name), rest.join('.'), value) };
}

/** A copy of `document` without the member at `path`. */
export function withoutMember(document: JsonObject, path: string): JsonObject {
  const [name = '', ...rest] = path.split('.');
  if (rest.length > 0)
    return { ...document, [name]: withoutMember(objectAt(document, name), rest.join('.')) };
  const { [name]: _removed, ...others } = document;
  return others;
}

function objectAt(document: JsonObject, name: string): JsonObject {
  const value = document[name];
  if (!isObject(value)) throw new TypeError(`There is no object at ${name}.`);
  return value;
}

/** The text at `path`. */
export function textAt(document: JsonObject, path: string): string {
  const [name = '', ...rest] = path.split('.');
  if (rest.length > 0) return textAt(objectAt(document, name), rest.join('.'));
  const value = document[name];
  if (typeof value !== 'string') throw new TypeError(`There is no text at ${name}.`);
  return value;
}
