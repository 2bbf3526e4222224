import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** An operation of an OpenAPI document, with its path and method. */
export interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly JsonObject[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, AnswerDocs>>;
}

interface AnswerDocs {
  readonly headers?: Readonly<Record<string, JsonObject>>;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Media {
  readonly schema: JsonObject;
  readonly example?: JsonValue;
}

/** Every operation of the document, in its order, with the answers that it refers to. */
export function operationsOf(document: JsonObject): Operation[] {
  return Object.entries(document['paths'] as Record<string, JsonObject>).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, JsonObject>).map(([method, operation]) => {
      const responses = Object.fromEntries(
        Object.entries(operation['responses'] as Record<string, JsonObject>).map(([status, answer]) => [
          status,
          '$ref' in answer ? targetOf(answer['$ref'] as string, document) : answer,
        ]),
      );
      return { ...operation, responses, method, path } as unknown as Operation;
    }),
  );
}

/** What a reference within the document points at. */
function targetOf(reference: string, document: JsonObject): JsonValue {
  return reference
    .split('/')
    .slice(1)
    .reduce<JsonValue>((here, step) => (here as JsonObject)[step] ?? {}, document);
}

/** Returns whether a media type is JSON, such as `application/json` and `application/problem+json`. */
export function isJsonType(mediaType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(mediaType);
}

/** The successful JSON answers that the operation documents, by status and media type. */
export function jsonAnswers({ responses }: Operation): { status: string; type: string; media: Media }[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content = {} }]) =>
      Object.entries(content)
        .filter(([type]) => isJsonType(type))
        .map(([type, media]) => ({ status, type, media })),
    );
}

const ajv = new Ajv2020({
  strict: false,
  formats: {
    uri: (text) => URL.canParse(text),
    'date-time': (text) => !Number.isNaN(Date.parse(text)),
    date: /^\d{4}-\d\d-\d\d$/,
  },
});

/**
 * Validator for a schema of the document. Beyond the schema, it refuses a member that the schema doesn't list, unless that says
 * that there may be others.
 */
export function validatorOf(document: JsonObject, schema: JsonObject): ValidateFunction {
  return ajv.compile(closed(resolved(schema, document)) as object);
}

/** The schema with each reference replaced by its target and the members beside it. No schema here is recursive. */
function resolved(value: JsonValue, document: JsonObject): JsonValue {
  if (Array.isArray(value)) return value.map((one) => resolved(one, document));
  if (!isObject(value)) return value;
  const { $ref, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, resolved(one, document)]));
  if (typeof $ref !== 'string') return own;
  return { ...(resolved(targetOf($ref, document), document) as JsonObject), ...own };
}

/** The schema with `unevaluatedProperties: false` in each object that says nothing about further members. */
function closed(value: JsonValue, isPart = false): JsonValue {
  if (Array.isArray(value)) return value.map((one) => closed(one));
  if (!isObject(value)) return value;
  const own = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      name === 'allOf' && Array.isArray(one) ? one.map((part) => closed(part, true)) : closed(one),
    ]),
  );
  const isOpen = 'additionalProperties' in value || (!('properties' in value) && !('allOf' in value));
  return isPart || isOpen ? own : { ...own, unevaluatedProperties: false };
}
