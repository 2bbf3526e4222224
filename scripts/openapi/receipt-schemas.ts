import { readFileSync } from 'node:fs';

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

const folder = new URL('../../spec/schemas/', import.meta.url);

/** Components of the OpenAPI document that are families of receipts, with the schemas in spec/ that define them. */
const FAMILIES = {
  EnvelopeReceipt: 'envelope.schema.json',
  NanoReceipt: 'nano.schema.json',
  StandardReceipt: 'standard.schema.json',
  PqReceipt: 'pq.schema.json',
  MeteringReceipt: 'metering.schema.json',
};

/** Compiles the receipts in `spec/schemas` to the text of `receipt-schemas.json`: each complete, with its references resolved. */
export function compileReceiptSchemas(): string {
  const compiled = Object.entries(FAMILIES).map(([name, file]) => [name, standAlone(file)]);
  return `${JSON.stringify(Object.fromEntries(compiled), null, 2)}\n`;
}

function standAlone(file: string): Json {
  return { type: 'object', ...(resolved(bare(read(file)), file) as JsonObject) };
}

/** The schema with every reference replaced by its target and the members beside it. */
function resolved(value: Json, file: string): Json {
  if (Array.isArray(value)) return value.map((one) => resolved(one, file));
  if (!isObject(value)) return value;
  const { $ref, ...rest } = value;
  const own = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, resolved(one, file)]));
  if (typeof $ref !== 'string') return open(own);
  const [target, pointer = ''] = $ref.split('#');
  const from = target === '' || target === undefined ? file : target;
  return joined(resolved(bare(at(read(from), pointer)), from) as JsonObject, own);
}

/** The schema without the members that only a schema file needs. */
function bare(schema: JsonObject): JsonObject {
  const head = new Set(['$schema', '$id', '$defs', 'title']);
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !head.has(name)));
}

/** Allows further members in an object that does not say whether it may have some, since a receipt may. */
function open(schema: JsonObject): JsonObject {
  if (!isObject(schema['properties']) || 'additionalProperties' in schema) return schema;
  return { ...schema, additionalProperties: true };
}

function joined(base: JsonObject, more: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(more)) {
    const before = result[name];
    if (isObject(before) && isObject(value)) result[name] = joined(before, value);
    else if (name === 'required' && Array.isArray(before) && Array.isArray(value))
      result[name] = [...before, ...value];
    else result[name] = value;
  }
  return result;
}

function at(document: JsonObject, pointer: string): JsonObject {
  return pointer
    .split('/')
    .slice(1)
    .reduce<JsonObject>((here, step) => here[step] as JsonObject, document);
}

function read(file: string): JsonObject {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as JsonObject;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
