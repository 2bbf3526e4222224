import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type JsonValue, parseJson } from '@tallystick/core';

/** The bytes of a file, or of standard input for `-`. */
export async function readBytes(path: string): Promise<Uint8Array> {
  return path === '-' ? buffer(process.stdin) : readFile(path);
}

/** The JSON of a file or of standard input, checked as raw bytes. @throws the json_* codes */
export async function readJson(path: string): Promise<JsonValue> {
  return parseJson(await readBytes(path));
}

/** One JSON value a line. Empty lines are skipped. */
export async function readJsonLines(path: string): Promise<JsonValue[]> {
  const text = new TextDecoder().decode(await readBytes(path));
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => parseJson(new TextEncoder().encode(line)));
}
