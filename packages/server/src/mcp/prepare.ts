import {
  fromJsonSchema,
  type JsonSchemaValidator,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { isObject, type JsonObject, type JsonValue, TallyError } from '@tallystick/core';
import type { Endpoint, RequestParts } from '../http/endpoint.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import { type Operation, operationOf } from './schemas.ts';
import { TOOLS, type ToolDefinition } from './tools.ts';

/** A tool with its schemas and the endpoint that does its work. */
export interface Tool {
  readonly definition: ToolDefinition;
  readonly inputSchema: StandardSchemaWithJSON;
  readonly outputSchema: StandardSchemaWithJSON;
  /** Reads the arguments. @throws unknown_field for an argument that the endpoint does not have */
  readonly read: (given: unknown) => ToolCall;
}

/** What a call of a tool comes to. */
export interface ToolCall {
  readonly endpoint: Endpoint;
  readonly given: Omit<RequestParts, 'rawBody'>;
  readonly idempotencyKey: string | undefined;
}

interface ToolRoute {
  readonly endpoint: Endpoint;
  readonly operation: Operation;
}

const KEY = 'idempotency_key';
const KEY_SCHEMA: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'For 72 hours, repeating a call with the same key and arguments gives the first answer again, without counting or charging anything.',
};

export function prepareTools(document: OpenApiDocument, endpoints: readonly Endpoint[]): Tool[] {
  const byRoute = new Map(endpoints.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one]));
  const wayOf = (route: string): ToolRoute => {
    const endpoint = byRoute.get(route);
    if (endpoint === undefined) throw new Error(`A tool is of ${route}, which is no endpoint.`);
    return { endpoint, operation: operationOf(document, route) };
  };
  return TOOLS.map((definition) => {
    const [first, ...others] = definition.routes;
    const ways: [ToolRoute, ...ToolRoute[]] = [wayOf(first), ...others.map(wayOf)];
    const input = inputOf(definition, ways);
    return {
      definition,
      inputSchema: unchecked(input),
      outputSchema: unchecked({ type: 'object', ...ways[0].operation.answer }),
      read: (given) => readCall(argumentsOf(given), ways, definition.omit ?? []),
    };
  });
}

/** A schema for documentation only: the endpoint checks, and its errors have a code and the field. */
function unchecked(schema: JsonObject): StandardSchemaWithJSON {
  return fromJsonSchema(schema, {
    getValidator:
      <T>(): JsonSchemaValidator<T> =>
      (data) => ({
        valid: true,
        data: data as T,
        errorMessage: undefined,
      }),
  });
}

function inputOf(definition: ToolDefinition, ways: readonly [ToolRoute, ...ToolRoute[]]): JsonObject {
  const { omit = [], arguments: own, required } = definition;
  const [{ operation }] = ways;
  const body =
    own === undefined ? (operation.body ?? {}) : { properties: own, required: [...(required ?? [])] };
  const properties: JsonObject = {
    ...(body['properties'] as JsonObject | undefined),
    ...operation.query,
    ...Object.assign({}, ...ways.map((way) => way.operation.path)),
    ...(takesKey(operation, omit) ? { [KEY]: KEY_SCHEMA } : {}),
  };
  for (const name of omit) delete properties[name];
  return {
    type: 'object',
    properties,
    required: [
      ...((body['required'] as string[] | undefined) ?? []),
      ...(ways.length === 1 ? Object.keys(operation.path) : []),
    ],
    additionalProperties: body['additionalProperties'] ?? false,
  };
}

function argumentsOf(given: unknown): JsonObject {
  const value = (given ?? {}) as JsonValue;
  if (isObject(value)) return value;
  throw new TallyError('invalid_field', 'arguments must be an object.', { field: 'arguments' });
}

function readCall(
  args: JsonObject,
  ways: readonly [ToolRoute, ...ToolRoute[]],
  omit: readonly string[],
): ToolCall {
  const { endpoint, operation } =
    ways.find((way) => Object.keys(way.operation.path).every((name) => Object.hasOwn(args, name))) ?? ways[0];
  const rest = { ...args };
  const params = take(rest, Object.keys(operation.path));
  const query = asTexts(
    take(
      rest,
      Object.keys(operation.query).filter((name) => !omit.includes(name)),
    ),
  );
  const { [KEY]: key } = takesKey(operation, omit) ? take(rest, [KEY]) : {};
  const stray = Object.keys(rest).find((name) => operation.body === null || omit.includes(name));
  if (stray !== undefined) {
    throw new TallyError('unknown_field', `${stray} is unknown. Leave it out.`, { field: stray });
  }
  return { endpoint, given: { params, query, body: rest }, idempotencyKey: keyOf(key) };
}

function takesKey({ headers }: Operation, omit: readonly string[]): boolean {
  return headers.includes('idempotency-key') && !omit.includes(KEY);
}

/** Moves members out of `from`. */
function take(from: JsonObject, names: readonly string[]): JsonObject {
  const taken: JsonObject = {};
  for (const name of names) {
    const value = from[name];
    if (value === undefined) continue;
    taken[name] = value;
    delete from[name];
  }
  return taken;
}

/** Numbers as a query writes them: a client that reads `limit` may well send one. */
function asTexts(query: JsonObject): JsonObject {
  const text = (value: JsonValue): JsonValue => (typeof value === 'number' ? String(value) : value);
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, text(value)]));
}

function keyOf(key: JsonValue | undefined): string | undefined {
  if (key === undefined || typeof key === 'string') return key;
  throw new TallyError('idempotency_key_invalid', `${KEY} must be a string.`, { field: KEY });
}
