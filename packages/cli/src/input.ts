import { createReadStream } from 'node:fs';
import { type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { unreadable } from './files.ts';
import { remark } from './output.ts';

/** Largest input in bytes: no receipt, bundle or key comes near it, and an endless input would fill the memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Name of an input in messages. */
export function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : path;
}

/** The bytes of a file, or of standard input for `-`. @throws UsageError when it cannot be read, body_too_large */
export async function readBytes(path: string): Promise<Uint8Array> {
  if (path === '-' && process.stdin.isTTY) remark('Reading standard input; end it with Ctrl-D.');
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of path === '-' ? process.stdin : createReadStream(path)) {
      length += (chunk as Uint8Array).length;
      if (length > MAX_BYTES)
        throw new TallyError(
          'body_too_large',
          `${nameOf(path)} is larger than ${MAX_BYTES / 1024 / 1024} MiB.`,
        );
      chunks.push(chunk as Uint8Array);
    }
  } catch (error) {
    throw unreadable(nameOf(path), error);
  }
  return Buffer.concat(chunks);
}

/** The text of a file that is UTF-8. @throws UsageError when it cannot be read, body_too_large */
export async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await readBytes(path));
}

/** The JSON of a file or of standard input, checked as raw bytes. @throws UsageError, body_too_large, json_* */
export async function readJson(path: string): Promise<JsonValue> {
  return parseNamed(await readBytes(path), nameOf(path));
}

/** As `parseJson`, with the name of the input in the message. @throws json_* */
export function parseNamed(bytes: Uint8Array, name: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (error) {
    throw error instanceof TallyError ? jsonFault(error, name) : error;
  }
}

/** The fault of bytes that are not JSON, with the name of the input in the message. */
export function jsonFault(fault: TallyError, name: string): TallyError {
  const { code, field } = fault;
  return new TallyError(code, messageFor(fault, name), { field, cause: fault });
}

function messageFor({ code, message }: TallyError, name: string): string {
  if (code === 'json_empty') return `${name} is empty; JSON is needed.`;
  if (code === 'json_not_utf8') return `${name} is not UTF-8, so it is not JSON.`;
  if (code === 'json_syntax') return `${name} is not JSON. ${message}`;
  return `${name}: ${message}`;
}

/** Adds the name of the file to the error for a document that is not a receipt. */
export function named(error: unknown, path: string): unknown {
  if (!(error instanceof TallyError) || error.code !== 'not_a_receipt') return error;
  return new TallyError(error.code, `${nameOf(path)}: ${error.message}`, {
    field: error.field,
    cause: error,
  });
}
