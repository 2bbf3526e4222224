import type { OpenAPIHono } from '@hono/zod-openapi';
import { isObject, type JsonObject, type JsonValue, sha256Hex, utf8 } from '@tallystick/core';
import recorded from './answer-examples.json' with { type: 'json' };

type Generated = ReturnType<OpenAPIHono['getOpenAPI31Document']>;

/** The document as it is published: plain JSON. */
export type OpenApiDocument = JsonObject & Generated;

/** Answers of a real service by operationId, which `e2e/openapi.test.ts` records. */
const EXAMPLES: Readonly<Record<string, JsonValue>> = recorded;

/** The generated document as it is published: with plain references, an example of each JSON answer, and each error said once. */
export function published(document: Generated): OpenApiDocument {
  const plain = withPlainReferences(JSON.parse(JSON.stringify(document)) as JsonValue) as OpenApiDocument;
  const operations = Object.values(plain['paths'] as Record<string, JsonObject>).flatMap((path) =>
    Object.values(path).filter(isObject),
  );
  for (const operation of operations) addExample(operation);
  const components = plain['components'] as JsonObject;
  components['responses'] = shareErrors(operations);
  return plain;
}

/**
 * Replaces each answer to an error that several operations have by a reference, and returns these answers by name. Whoever
 * reads the document reads them once: written out, they are two fifths of it.
 */
function shareErrors(operations: readonly JsonObject[]): JsonObject {
  const uses = operations.flatMap(({ responses }) =>
    Object.entries(responses as JsonObject)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, answer]) => ({
        responses: responses as JsonObject,
        status,
        text: JSON.stringify(answer),
      })),
  );
  const shared: JsonObject = {};
  for (const [text, same] of Map.groupBy(uses, ({ text }) => text)) {
    if (same.length === 1) continue;
    const [code = 'error'] = /[a-z]\w+(?=`)/.exec(text) ?? [];
    const name = `${code}.${sha256Hex(utf8(text)).slice(0, 8)}`;
    shared[name] = JSON.parse(text) as JsonObject;
    for (const { responses, status } of same) responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return shared;
}

function addExample({ operationId, responses }: JsonObject): void {
  const example = EXAMPLES[operationId as string];
  const answers = responses as Record<string, { content?: Record<string, JsonObject> }>;
  for (const answer of [answers['200'], answers['201'], answers['202']]) {
    const json = Object.entries(answer?.content ?? {}).find(([type]) => isJson(type));
    if (json !== undefined && example !== undefined) json[1]['example'] = example;
  }
}

/** `application/json`, `application/did+json` */
function isJson(mediaType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(mediaType);
}

/**
 * Replaces `allOf` around a reference with its own text, which the generator writes as in OpenAPI 3.0. In 3.1 both
 * stand side by side.
 */
function withPlainReferences(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withPlainReferences);
  if (!isObject(value)) return value;
  const { allOf, ...rest } = value;
  const [reference, text] = Array.isArray(allOf) && allOf.length === 2 ? allOf : [];
  const isDescribed =
    isObject(reference) &&
    '$ref' in reference &&
    isObject(text) &&
    Object.keys(text).join() === 'description';
  if (isDescribed && Object.keys(rest).length === 0) return { ...reference, ...text };
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withPlainReferences(one)]));
}
