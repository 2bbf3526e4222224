import { TallyError } from '../errors.ts';
import { parseJson } from './parse.ts';
import type { JsonValue } from './types.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Handles one line, without its line feed. The bytes change after the call, so the handler must not keep them. */
export type TakeLine = (line: Uint8Array, number: number) => void;

/** How errors call a line; lines are counted from 1. */
export const lineName = (number: number): string => `line ${number}`;

/**
 * Cuts JSON lines (application/x-ndjson) out of a stream of bytes, holding one line at most. Blank lines are allowed
 * at the end only.
 */
export class LineReader {
  readonly #take: TakeLine;
  readonly #maxBytes: (number: number) => number;
  /** The start of a line whose end has not come yet. */
  #rest = new Uint8Array(512);
  #restLength = 0;
  #number = 1;
  #firstBlank: number | null = null;

  /**
   * @param take called with each line that is not blank; an error that it throws ends the reading
   * @param maxBytes returns the most bytes that the line of a number may have
   */
  constructor(take: TakeLine, maxBytes: (number: number) => number) {
    this.#take = take;
    this.#maxBytes = maxBytes;
  }

  /** @throws body_too_large for a line that is too long, json_empty for a blank line before another one */
  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#line(chunk.subarray(start, end));
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** Takes a last line that has no line feed. Throws as `push` does. */
  end(): void {
    if (this.#restLength > 0) this.#line(new Uint8Array(0));
  }

  #line(tail: Uint8Array): void {
    const line = this.#restLength === 0 ? tail : this.#completed(tail);
    const number = this.#number;
    this.#restLength = 0;
    if (line.length === 0 || (line.length === 1 && line[0] === CARRIAGE_RETURN)) {
      this.#firstBlank ??= number;
      this.#number += 1;
      return;
    }
    if (this.#firstBlank !== null) {
      const field = lineName(this.#firstBlank);
      throw new TallyError('json_empty', `${field} is blank, and more lines follow.`, { field });
    }
    this.#requireFit(line.length);
    this.#number += 1;
    this.#take(line, number);
  }

  #completed(tail: Uint8Array): Uint8Array {
    this.#keep(tail);
    return this.#rest.subarray(0, this.#restLength);
  }

  #keep(part: Uint8Array): void {
    const length = this.#restLength + part.length;
    this.#requireFit(length);
    if (length > this.#rest.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#rest.length));
      larger.set(this.#rest.subarray(0, this.#restLength));
      this.#rest = larger;
    }
    this.#rest.set(part, this.#restLength);
    this.#restLength = length;
  }

  #requireFit(length: number): void {
    const limit = this.#maxBytes(this.#number);
    if (length <= limit) return;
    const field = lineName(this.#number);
    throw new TallyError('body_too_large', `${field} may hold at most ${limit} bytes.`, { field });
  }
}

/**
 * The value of one line of JSON.
 * @param path what the errors call the line
 * @throws what `parseJson` does, with `path` in front of the field and the message
 */
export function parseLine(line: Uint8Array, path: string): JsonValue {
  try {
    return parseJson(line);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    const inner = error.field ?? '';
    const field = inner === '' || inner.startsWith('[') ? path + inner : `${path}.${inner}`;
    throw new TallyError(error.code, `${path}: ${error.message}`, { field, cause: error.cause });
  }
}
