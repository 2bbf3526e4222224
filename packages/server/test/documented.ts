import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { isJsonType, type Operation, operationsOf, validatorOf } from '../../../e2e/openapi-document.ts';

/** An answer beside the request that it is for. */
interface Answered {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Headers that mean the same with every answer: the introduction of the document tells of ours, HTTP and Fetch of the others. */
const COMMON = new Set([
  'accept-ranges',
  'allow',
  'cache-control',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'etag',
  'idempotency-replayed',
  'ratelimit',
  'ratelimit-policy',
  'referrer-policy',
  'retry-after',
  'transfer-encoding',
  'vary',
  'www-authenticate',
  'x-accel-buffering',
  'x-content-type-options',
  'x-frame-options',
  'x-request-id',
  'x-should-retry',
]);

/** Finds in an OpenAPI document what an answer may be. */
export class DocumentedAnswers {
  readonly #document: JsonObject;
  readonly #operations: readonly { readonly operation: Operation; readonly pattern: RegExp }[];
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: JsonObject) {
    this.#document = document;
    this.#operations = operationsOf(document)
      .map((operation) => ({ operation, pattern: patternOf(operation) }))
      // A path with fewer parameters counts before one with more.
      .sort((one, other) => parametersOf(one.operation) - parametersOf(other.operation));
  }

  /**
   * What of an answer is not documented: its status, media type, a header, or a member of the body, of a row of an export, or of `svc` in
   * a stream. Null if all is, and where the document has no operation of this address and method.
   */
  faultOf({ method, path, status, headers, text }: Answered): string | null {
    const [address = ''] = path.replace(/^https?:\/\/[^/]+/, '').split('?');
    const there = this.#operations.filter(({ pattern }) => pattern.test(address));
    const operation = there.find(
      (one) =>
        one.operation.path === there[0]?.operation.path && one.operation.method === method.toLowerCase(),
    )?.operation;
    if (operation === undefined) return null;
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    const fault = (what: string): string =>
      `${what}: ${operation.operationId} ${status} ${type} ${text.slice(0, 500)}`;
    const answer = operation.responses[status];
    if (answer === undefined) return fault('no such status');
    const named = new Set(Object.keys(answer.headers ?? {}).map((name) => name.toLowerCase()));
    const header = [...headers.keys()].find(
      (name) => !COMMON.has(name) && !name.startsWith('access-control-') && !named.has(name),
    );
    if (header !== undefined) return fault(`no header ${header}`);
    if (text === '') return null;
    const { content = {} } = answer;
    if (content[type] === undefined && content['*/*'] === undefined) return fault('no such media type');
    for (const [name, schema, value] of this.#partsOf(content, type, text)) {
      const validate = this.#validatorOf(`${operation.operationId} ${status} ${name}`, schema);
      if (!validate(value)) return fault(JSON.stringify(validate.errors));
    }
    return null;
  }

  #validatorOf(name: string, schema: JsonObject): ValidateFunction {
    const validator = this.#validators.get(name) ?? validatorOf(this.#document, schema);
    this.#validators.set(name, validator);
    return validator;
  }

  /** The JSON documents of an answer, each with its schema. Of a CSV file, whether the rows have a member for each column. */
  #partsOf(content: Content, type: string, text: string): readonly Part[] {
    if (isJsonType(type)) return [[type, content[type]?.schema ?? {}, JSON.parse(text) as JsonValue]];
    const whole = content['application/json']?.schema;
    if (whole === undefined) return [];
    const lines = text.split('\n').filter((line) => line !== '');
    const row = (this.#memberOf(whole, 'data')['items'] ?? {}) as JsonObject;
    switch (type) {
      case 'text/csv':
        return (lines[0]?.trim().split(',') ?? []).map((column) => {
          const member = column.split('.').reduce((schema, name) => this.#memberOf(schema, name), row);
          return [column, { const: Object.keys(member).length > 0 }, true];
        });
      case 'application/x-ndjson':
        return lines.map((line) => ['row', row, JSON.parse(line) as JsonValue]);
      case 'text/event-stream':
        return lines
          .filter((line) => line.startsWith('data: {'))
          .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject)
          .flatMap(({ svc }) =>
            svc === undefined ? [] : [['svc', this.#memberOf(whole, 'svc'), svc] as const],
          );
      default:
        return [];
    }
  }

  /** The schema of a member of an object; empty if it has none of this name. */
  #memberOf(schema: JsonObject, name: string): JsonObject {
    const { $ref } = schema;
    const steps = typeof $ref === 'string' ? $ref.split('/').slice(1) : null;
    const target = steps?.reduce<JsonValue>((here, step) => (here as JsonObject)[step] ?? {}, this.#document);
    const { properties } = (target ?? schema) as JsonObject;
    const member = isObject(properties) ? properties[name] : undefined;
    return (member ?? {}) as JsonObject;
  }
}

type Content = NonNullable<Operation['responses'][string]['content']>;
type Part = readonly [name: string, schema: JsonObject, value: JsonValue];

function parametersOf({ path }: Operation): number {
  return path.split('{').length - 1;
}

function patternOf({ path }: Operation): RegExp {
  // The last parameter of a tile's path takes slashes too.
  const one = path.startsWith('/tile/') ? '.+' : '[^/]+';
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, one)}$`);
}
