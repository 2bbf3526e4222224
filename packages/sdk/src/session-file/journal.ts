import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import {
  canonicalize,
  fromBase64url,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type SessionValue,
  type ToolServer,
  toBase64url,
  utf8,
} from '@tallystick/core';
import type { OpenCall } from '../sessions/session.ts';

/**
 * The calls that have begun and have no receipt yet (spec/sessions.md, *The file*). It is not flushed: what was written survives
 * the process, not the machine. It holds arguments in clear, and is emptied whenever no call is open.
 */
export class Journal {
  readonly #file: number;
  readonly #open: Set<number>;

  constructor(path: string, open: Iterable<number>) {
    this.#file = openSync(path, 'a', 0o600);
    this.#open = new Set(open);
    this.#empty();
  }

  begin(number: number, { tool, server, arguments: value }: OpenCall): void {
    this.#write({ begin: number, tool, server, arguments: written(value) });
    this.#open.add(number);
  }

  /** Says which receipt ends a call, before it is written: the call has ended if the file has that receipt. */
  end(number: number, seq: number): void {
    this.#write({ end: number, seq });
  }

  /** Forgets calls whose receipts are durable. */
  forget(numbers: readonly number[]): void {
    for (const number of numbers) this.#open.delete(number);
    if (numbers.length > 0) this.#empty();
  }

  close(): void {
    closeSync(this.#file);
  }

  #empty(): void {
    if (this.#open.size === 0) ftruncateSync(this.#file);
  }

  /** Writes a whole line or, where there is no room for it, nothing: the next line would not be read after half a one. */
  #write(entry: JsonObject): void {
    const { size } = fstatSync(this.#file);
    try {
      writeFileSync(this.#file, `${canonicalize(entry)}\n`);
    } catch (error) {
      ftruncateSync(this.#file, size);
      throw error;
    }
  }
}

/** The calls that an earlier process began and did not end, by number. @param newest `seq` of the newest receipt */
export function unanswered(path: string, newest: number): Map<number, OpenCall> {
  const open = new Map<number, OpenCall>();
  /** The call that a receipt ends, by `seq`. */
  const ended = new Map<number, [number, OpenCall]>();
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  for (const line of text.split('\n')) {
    const entry = parsed(line);
    if (typeof entry?.begin === 'number' && typeof entry.tool === 'string') {
      open.set(entry.begin, {
        tool: entry.tool,
        server: entry.server as JsonObject & ToolServer,
        arguments: read(entry.arguments ?? null),
      });
    } else if (typeof entry?.end === 'number' && typeof entry.seq === 'number' && entry.seq <= newest) {
      // An earlier note of this receipt is of one that was not written: its call has not ended.
      const before = ended.get(entry.seq);
      if (before !== undefined) open.set(...before);
      const call = open.get(entry.end);
      if (call === undefined) ended.delete(entry.seq);
      else ended.set(entry.seq, [entry.end, call]);
      open.delete(entry.end);
    }
  }
  return new Map([...open].sort(([one], [other]) => one - other));
}

/** A line of the journal; null for one that was cut while it was written. */
function parsed(line: string): JsonObject | null {
  try {
    const entry = parseJson(utf8(line));
    return isObject(entry) ? entry : null;
  } catch {
    return null;
  }
}

function written(value: SessionValue | null): JsonValue {
  return value === null || 'json' in value ? value : { raw: toBase64url(value.raw) };
}

function read(value: JsonValue): SessionValue | null {
  if (!isObject(value)) return null;
  return typeof value.raw === 'string' ? { raw: fromBase64url(value.raw) } : { json: value.json ?? null };
}
