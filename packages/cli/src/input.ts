import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { type JsonValue, parseJson, TallyError } from '@tallystick/core';
import { unreadable } from './files.ts';
import { remark } from './output.ts';

/** No receipt, bundle or key comes near this; without a limit, an endless input would fill the memory. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_LINE_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;

/** How messages call an input. */
export function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : path;
}

/**
 * The bytes of a file, or of standard input for `-`.
 * @throws UsageError when it cannot be read, body_too_large
 */
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

/** The JSON of a file or of standard input, checked as raw bytes. @throws UsageError, body_too_large, json_* */
export async function readJson(path: string): Promise<JsonValue> {
  return parseNamed(await readBytes(path), nameOf(path));
}

/** As `parseJson`, with the name of the input in the message. @throws json_* */
export function parseNamed(bytes: Uint8Array, name: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    const { code, field } = error;
    throw new TallyError(code, messageFor(error, name), { field, cause: error });
  }
}

function messageFor({ code, message }: TallyError, name: string): string {
  if (code === 'json_empty') return `${name} is empty; JSON is needed.`;
  if (code === 'json_not_utf8') return `${name} is not UTF-8, so it is not JSON.`;
  if (code === 'json_syntax') return `${name} is not JSON. ${message}`;
  return `${name}: ${message}`;
}

/**
 * The JSON values of a file, one a line, read as they are asked for, in bounded memory. Empty lines are skipped.
 * @throws UsageError when it cannot be read, body_too_large for a line, json_* with the line's number
 */
export function* readJsonLines(path: string): Generator<JsonValue> {
  let number = 0;
  for (const line of readLines(path)) {
    number += 1;
    if (line.some((byte) => byte > 0x20)) yield parseNamed(line, `${path}, line ${number}`);
  }
}

function* readLines(path: string): Generator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for (const chunk of readChunks(path)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.slice(start);
    if (rest.length > MAX_LINE_BYTES)
      throw new TallyError('body_too_large', `A line of ${path} is larger than 1 MiB.`);
  }
  if (rest.length > 0) yield rest;
}

function* readChunks(path: string): Generator<Uint8Array> {
  const buffer = new Uint8Array(1 << 16);
  const read = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw unreadable(path, error);
    }
  };
  const file = read(() => openSync(path, 'r'));
  try {
    for (let n = read(() => readSync(file, buffer)); n > 0; n = read(() => readSync(file, buffer)))
      yield buffer.subarray(0, n);
  } finally {
    closeSync(file);
  }
}
