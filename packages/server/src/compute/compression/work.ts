import {
  type ChatMessage,
  compress,
  type Remembered,
  type Selection,
  type Tokenizer,
  tokenizerFor,
} from '@tallystick/compress';
import type { JsonObject } from '@tallystick/core';
import { firstWorthwhile } from './cache-minimum.ts';
import { resultOf } from './result.ts';
import type { CompressionResult, CompressionTask } from './task.ts';

/** What is remembered of a block: under which options it was cut, and what was kept. */
interface BlockNote {
  readonly options: string;
  readonly selection: Selection;
}

/** More than any conversation has. */
const NO_BUDGET = Number.MAX_SAFE_INTEGER;
/** Callers whose counts are kept, at most: the same blocks come again in the next call. */
const MAX_TOKENIZERS = 4;

const tokenizers = new Map<string, Tokenizer>();

/** Compresses; where it cuts, blocks that went before in the form in which they did. */
export function work(task: CompressionTask): CompressionResult {
  const tokenizer = tokenizerOf(task);
  return task.tier === 'lossless' ? encode(task, tokenizer) : cut(task, tokenizer);
}

function encode(task: CompressionTask, tokenizer: Tokenizer): CompressionResult {
  const { messages, plain } = task;
  const result = resultOf(
    task,
    compress(asChat(withBreakpoint(messages, plain)), { tier: 'lossless', tokenizer }),
    tokenizer,
    [],
  );
  const from = firstWorthwhile(result.before, result.after, task.cacheWorth);
  if (from <= plain || !result.changed.some(([index]) => index < from)) return result;
  return { ...encode({ ...task, plain: from }, tokenizer), spared: true };
}

function cut(task: CompressionTask, tokenizer: Tokenizer): CompressionResult {
  const { messages, tier, budget, retrieve, query, notes } = task;
  const plain = Math.max(task.plain, sparedBefore(task, tokenizer));
  const input = asChat(withBreakpoint(messages, plain));
  const known = knownBlocks(task, input, tokenizer);
  const result = compress(input, {
    tier,
    tokenizer,
    recoverable: !retrieve,
    remembered: known.selection,
    ...(budget !== null && { budget }),
    ...(query !== null && { query }),
  });
  const fresh = new Map<string, Remembered>();
  for (const one of result.selections)
    if (!known.isWhole(one.id) && !fresh.has(one.id)) fresh.set(one.id, one);
  const options = optionsOf(task);
  const written = [...fresh.values()].map(({ id, selection }) => {
    const replaces = notes.get(id) ?? null;
    const same = readNote(replaces)?.selection.digest === selection.digest;
    const value = JSON.stringify({ options, selection } satisfies BlockNote);
    return { key: id, value: same && replaces !== null && known.isSent(id) ? replaces : value, replaces };
  });
  return resultOf({ ...task, plain }, result, tokenizer, written);
}

function tokenizerOf({ account, encoding }: CompressionTask): Tokenizer {
  const key = JSON.stringify([account, encoding]);
  const found = tokenizers.get(key) ?? tokenizerFor(encoding);
  tokenizers.delete(key);
  tokenizers.set(key, found);
  const [oldest] = tokenizers.keys();
  if (tokenizers.size > MAX_TOKENIZERS && oldest !== undefined) tokenizers.delete(oldest);
  return found;
}

/** What went out as it came stays so: an explicit breakpoint behind it says that to the engine. */
function withBreakpoint(messages: readonly JsonObject[], plain: number): readonly JsonObject[] {
  const last = messages[plain - 1];
  return last === undefined ? messages : messages.with(plain - 1, { ...last, cache_control: true });
}

interface KnownBlocks {
  readonly selection: (id: string) => Selection | undefined;
  readonly isWhole: (id: string) => boolean;
  readonly isSent: (id: string) => boolean;
}

/** Before which message everything went out as it came for the sake of the provider's cache, while nothing was cut. */
function sparedBefore(task: CompressionTask, tokenizer: Tokenizer): number {
  const uncut = Math.min(task.whole, task.sent);
  if (uncut === 0 || task.cacheWorth === 0) return 0;
  const messages = asChat(withBreakpoint(task.messages, task.plain)).slice(0, uncut);
  const { before, after } = resultOf(
    { ...task, messages: task.messages.slice(0, uncut) },
    compress(messages, { tier: 'lossless', tokenizer }),
    tokenizer,
    [],
  );
  return firstWorthwhile(before, after, task.cacheWorth);
}

/** What binds the blocks of this call: those that went before keep their form, others may be cut anew. */
function knownBlocks(
  task: CompressionTask,
  input: readonly ChatMessage[],
  tokenizer: Tokenizer,
): KnownBlocks {
  const until = (end: number): Map<string, Selection> =>
    end === 0
      ? new Map()
      : new Map(
          compress(input.slice(0, end), { tier: 'extractive', budget: NO_BUDGET, tokenizer }).selections.map(
            ({ id, selection }) => [id, selection],
          ),
        );
  const whole = until(Math.min(task.whole, task.sent));
  const sent = task.whole >= task.sent ? whole : until(task.sent);
  const options = optionsOf(task);
  return {
    selection(id) {
      const note = readNote(task.notes.get(id) ?? null);
      const binds = task.binding || sent.has(id) || note?.options === options;
      return whole.get(id) ?? (binds ? note?.selection : undefined);
    },
    isWhole: (id) => whole.has(id),
    isSent: (id) => sent.has(id),
  };
}

function readNote(value: string | null): BlockNote | null {
  return value === null ? null : (JSON.parse(value) as BlockNote);
}

function optionsOf({ budget, retrieve }: CompressionTask): string {
  return `${budget ?? 'default'} ${retrieve ? 'retrieve' : 'recoverable'}`;
}

/** The request's schema has seen to it that they are messages. */
function asChat(messages: readonly JsonObject[]): readonly ChatMessage[] {
  return messages as unknown as readonly ChatMessage[];
}
