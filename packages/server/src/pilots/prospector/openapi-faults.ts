import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const MAX_FAULTS = 5;

/**
 * The first few faults of an OpenAPI 3.0 or 3.1 document, in words. It checks what clients and generators stumble over:
 * version, info, paths, operations, their parameters and responses, and references within the document. It does not
 * check schemas.
 */
export function openApiFaults(document: JsonObject): string[] {
  const { openapi, info, paths } = document;
  const faults: string[] = [];
  if (typeof openapi !== 'string' || !/^3\.[01]\.\d+$/.test(openapi))
    faults.push('openapi is not 3.0.x or 3.1.x');
  if (!isObject(info) || typeof info['title'] !== 'string' || typeof info['version'] !== 'string')
    faults.push('info lacks title or version');
  if (!isObject(paths) || Object.keys(paths).length === 0) faults.push('paths is empty');
  else faults.push(...pathFaults(paths));
  for (const pointer of references(document)) {
    if (faults.length >= MAX_FAULTS) break;
    if (!resolves(document, pointer)) faults.push(`${pointer} points to nothing`);
  }
  return faults.slice(0, MAX_FAULTS);
}

function pathFaults(paths: JsonObject): string[] {
  const ids = new Set<string>();
  return Object.entries(paths).flatMap(([path, item]) => {
    if (!path.startsWith('/')) return [`the path ${path} does not begin with /`];
    if (!isObject(item)) return [`${path} is not an object`];
    return METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const name = `${method.toUpperCase()} ${path}`;
      if (!isObject(operation)) return [`${name} is not an object`];
      return operationFaults(name, operation, item, ids);
    });
  });
}

function operationFaults(name: string, operation: JsonObject, item: JsonObject, ids: Set<string>): string[] {
  const faults: string[] = [];
  const { responses, operationId } = operation;
  if (!isObject(responses) || Object.keys(responses).length === 0) faults.push(`${name} has no responses`);
  else if (!Object.keys(responses).every((status) => /^(?:[1-5](?:\d\d|XX)|default)$/.test(status)))
    faults.push(`${name} has a response whose name is not a status`);
  if (typeof operationId === 'string') {
    if (ids.has(operationId)) faults.push(`the operationId ${operationId} appears twice`);
    ids.add(operationId);
  }
  const listed = [...listOf(item['parameters']), ...listOf(operation['parameters'])];
  // A referenced parameter may be any of them.
  if (listed.some((one) => isObject(one) && '$ref' in one)) return faults;
  const described = new Set(
    listed.flatMap((one) => (isObject(one) && one['in'] === 'path' ? [one['name']] : [])),
  );
  for (const [, parameter] of name.matchAll(/\{([^}]+)\}/g)) {
    if (!described.has(parameter)) faults.push(`${name} does not describe its parameter ${parameter}`);
  }
  return faults;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Every `$ref` into the document itself, each once. */
function references(value: JsonValue): Set<string> {
  const found = new Set<string>();
  const waiting: JsonValue[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) waiting.push(...next);
    else if (isObject(next)) {
      const target = next['$ref'];
      if (typeof target === 'string' && target.startsWith('#')) found.add(target);
      waiting.push(...Object.values(next));
    }
  }
  return found;
}

/** RFC 6901, section 6. */
function resolves(document: JsonObject, pointer: string): boolean {
  let here: JsonValue | undefined = document;
  for (const step of pointer.slice(1).split('/').slice(1)) {
    if (!isObject(here) && !Array.isArray(here)) return false;
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (!Object.hasOwn(here, key)) return false;
    here = (here as JsonObject)[key];
  }
  return true;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
