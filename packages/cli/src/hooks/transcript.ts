import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import type { AgentName } from './event.ts';

/** What a transcript tells that the hooks do not. */
export type Told =
  | { readonly kind: 'model_call'; readonly receiptId: string }
  | { readonly kind: 'call'; readonly id: string; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly id: string; readonly result: unknown };

type Entry = Readonly<Record<string, unknown>>;

const RECEIPT_ID = /^(?:resp_)?(r_env_\d+_[0-9a-f]{12})$/;
const LINE_FEED = 10;

const READERS: Readonly<Record<AgentName, (entry: Entry) => Told | null>> = {
  'claude-code': toldByClaudeCode,
  codex: toldByCodex,
};

/** An agent's record of a session, read as it grows. */
export class Transcript {
  readonly #agent: AgentName;
  readonly #path: string;
  #offset = 0;

  constructor(agent: AgentName, path: string) {
    this.#agent = agent;
    this.#path = path;
  }

  /** What the lines tell that have been written since the last call. Nothing, if the file can't be read. */
  news(): Told[] {
    const bytes = this.#added();
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    this.#offset += end;
    return bytes
      .toString('utf8', 0, end)
      .split('\n')
      .flatMap((line) => {
        const entry = objectIn(line);
        const told = entry && READERS[this.#agent](entry);
        return told ? [told] : [];
      });
  }

  #added(): Buffer {
    let file: number | null = null;
    try {
      file = openSync(this.#path, 'r');
      const length = statSync(this.#path).size - this.#offset;
      const bytes = Buffer.alloc(Math.max(0, length));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, this.#offset));
    } catch {
      return Buffer.alloc(0);
    } finally {
      if (file !== null) closeSync(file);
    }
  }
}

/** Claude Code writes the header `Request-Id` of an answer as `requestId`, and one answer as several lines. */
function toldByClaudeCode({ type, requestId }: Entry): Told | null {
  return type === 'assistant' ? modelCall(requestId) : null;
}

/**
 * Codex writes the id of an answer, which contains the receipt's unless the provider speaks Responses itself. Its hooks are not told
 * of every tool, nor of every result; its transcript is.
 */
function toldByCodex({ payload }: Entry): Told | null {
  if (!isEntry(payload)) return null;
  const { type, response_id, call_id, name, arguments: given, input, output } = payload;
  if (response_id !== undefined) return modelCall(response_id);
  if (typeof call_id !== 'string') return null;
  if (type === 'function_call')
    return { kind: 'call', id: call_id, tool: String(name), input: argumentsIn(given) };
  if (type === 'custom_tool_call') return { kind: 'call', id: call_id, tool: String(name), input };
  return type === 'function_call_output' || type === 'custom_tool_call_output'
    ? { kind: 'result', id: call_id, result: output }
    : null;
}

function modelCall(id: unknown): Told | null {
  const receiptId = typeof id === 'string' ? RECEIPT_ID.exec(id)?.[1] : undefined;
  return receiptId === undefined ? null : { kind: 'model_call', receiptId };
}

function argumentsIn(text: unknown): unknown {
  return (typeof text === 'string' ? objectIn(text) : null) ?? text;
}

function objectIn(line: string): Entry | null {
  try {
    const entry: unknown = JSON.parse(line);
    return isEntry(entry) ? entry : null;
  } catch {
    return null;
  }
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null;
}

/** Ids of the receipts that the sessions in these files refer to already. */
export function referencedIn(files: readonly string[]): Set<string> {
  const entries = files.flatMap((file) => readFileSync(file, 'utf8').split('\n')).map(objectIn);
  const calls = entries.map((entry) => entry?.['call']).filter(isEntry);
  return new Set(
    calls.filter(({ kind }) => kind === 'reference').map(({ receipt_id }) => String(receipt_id)),
  );
}
