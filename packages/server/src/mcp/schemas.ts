import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import type { OpenApiDocument } from '../http/openapi.ts';

/** An operation of the OpenAPI document, as JSON Schemas (2020-12) without references. */
export interface Operation {
  readonly path: Readonly<Record<string, JsonObject>>;
  readonly query: Readonly<Record<string, JsonObject>>;
  readonly headers: readonly string[];
  readonly body: JsonObject | null;
  readonly answer: JsonObject;
}

/** @param route `POST /v1/anchor` */
export function operationOf(document: OpenApiDocument, route: string): Operation {
  const [method = '', path = ''] = route.split(' ');
  const operation = objectAt(document, 'paths', path, method.toLowerCase());
  const schemas = objectAt(document, 'components', 'schemas');
  const parameters = ((operation['parameters'] ?? []) as JsonObject[]).map(
    (one) => inline(one, schemas) as JsonObject,
  );
  const within = (place: string) => parameters.filter((one) => one['in'] === place);
  const named = (place: string) =>
    Object.fromEntries(within(place).map((one) => [one['name'] as string, one['schema'] as JsonObject]));
  const body = operation['requestBody'];
  return {
    path: named('path'),
    query: named('query'),
    headers: within('header').map(({ name }) => (name as string).toLowerCase()),
    body: body === undefined ? null : (inline(schemaIn(body as JsonObject), schemas) as JsonObject),
    answer: inline(schemaIn(objectAt(operation, 'responses', '200')), schemas) as JsonObject,
  };
}

function schemaIn(content: JsonObject): JsonObject {
  return objectAt(content, 'content', 'application/json', 'schema');
}

function objectAt(from: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((here, step) => {
    const next = here[step];
    if (isObject(next)) return next;
    throw new Error(`The OpenAPI document has no ${path.join('.')}.`);
  }, from);
}

const COMPONENT = '#/components/schemas/';

/** Replaces each reference by its target, since many model hosts resolve none. No schema here is recursive. */
function inline(value: JsonValue, schemas: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((one) => inline(one, schemas));
  if (!isObject(value)) return value;
  const { $ref, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, inline(one, schemas)]));
  if (typeof $ref !== 'string') return own;
  return { ...(inline(objectAt(schemas, $ref.slice(COMPONENT.length)), schemas) as JsonObject), ...own };
}
