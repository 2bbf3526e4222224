import { closeSync, openSync, readSync } from 'node:fs';
import { TallyError } from '@tallystick/core';
import { unreadable } from './files.ts';

const MAX_LINE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 1 << 16;
const LINE_FEED = 0x0a;
const SPACE = 0x20;

/** A line of a file, counted from 1, without its end. Its bytes change with the next line, so copy them to keep them. */
export interface Line {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/**
 * The lines of a file that are not blank, read as needed, in bounded memory.
 * @param onRead called with the number of bytes that were read since the last call
 * @throws UsageError when it cannot be read, body_too_large for a line of more than 1 MiB
 */
export function* readLines(path: string, onRead: (bytes: number) => void = () => {}): Generator<Line> {
  let number = 0;
  for (const line of split(path, onRead)) {
    number += 1;
    const bytes = line.subarray(0, endOf(line));
    if (bytes.length > 0) yield { number, bytes };
  }
}

/** The length without white space and carriage return at the end. */
function endOf(line: Uint8Array): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] ?? 0) <= SPACE) end -= 1;
  return end;
}

function* split(path: string, onRead: (bytes: number) => void): Generator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for (const chunk of readChunks(path)) {
    onRead(chunk.length);
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
  const buffer = new Uint8Array(CHUNK_BYTES);
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
