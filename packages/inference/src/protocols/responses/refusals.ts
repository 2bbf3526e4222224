import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import { stateless } from '../protocol.ts';

/** Members by which OpenAI's API refers to what is stored in an account. */
const REFERENCES: ReadonlySet<string> = new Set([
  'file_id',
  'file_ids',
  'container_id',
  'vector_store_ids',
  'skill_id',
]);

/** Types of tools, and of their places, that work on what is stored in an account. */
const STORED: ReadonlySet<JsonValue> = new Set([
  'file_search',
  'code_interpreter',
  'image_generation',
  'container_auto',
  'container_reference',
]);

/** Members that hold the caller's own JSON Schemas, in which every name is free. */
const SCHEMAS: ReadonlySet<string> = new Set(['parameters', 'output_schema']);

/**
 * Refuses references to what is stored, wherever they stand: with a provider that speaks Responses they would reach into
 * the operator's account, which all callers share.
 * @throws state_not_kept
 */
export function refuseReferences(body: JsonObject): void {
  for (const name of ['input', 'tools']) refuseIn(body[name] ?? null, name);
}

function refuseIn(value: JsonValue, field: string): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseIn(item, `${field}[${index}]`);
    return;
  }
  if (!isObject(value)) return;
  if (STORED.has(value['type'] ?? null))
    throw stateless(
      `${field}.type`,
      'This works on files and containers that would have to be kept. Offer a function instead.',
    );
  for (const [name, inner] of Object.entries(value)) {
    if (REFERENCES.has(name) && inner !== null)
      throw stateless(`${field}.${name}`, 'Files are not kept. Send the file itself, or its URL.');
    if (!SCHEMAS.has(name)) refuseIn(inner, `${field}.${name}`);
  }
}
