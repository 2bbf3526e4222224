import {
  type ChatMessage,
  compress,
  type RememberedSelection,
  type Selection,
  type Tokenizer,
  tokenizerFor,
} from '@tallystick/compress';
import type { JsonObject } from '@tallystick/core';
import { cacheGate, leastLeft } from './cache-gate.ts';
import { isCutAt } from './conversations.ts';
import { DEFAULT_SHARE } from './options.ts';
import { resultOf, tokensOf } from './result.ts';
import type { CompressionResult, CompressionTask } from './task.ts';

/** The note of a block: the options under which it was cut, and what was kept. */
interface BlockNote {
  readonly options: string;
  readonly selection: Selection;
}

/** More tokens than any conversation has. */
const NO_BUDGET = Number.MAX_SAFE_INTEGER;
/**
 * Tokens added to the budget at a cache's minimum: what is cut below the minimum is held back, and cutting ends a
 * little below its budget.
 */
const ABOVE_MINIMUM = 64;
/** Most callers whose token counts are cached: the same blocks come again in the next call. */
const MAX_TOKENIZERS = 4;

const tokenizers = new Map<string, Tokenizer>();

/** Compresses a conversation. Blocks that were sent before keep their form. */
export function compressTask(task: CompressionTask): CompressionResult {
  const { messages, tier, retrieve, mustFit, query, form, cachePrice } = task;
  const tokenizer = tokenizerOf(task);
  const before = messages.map((message) => tokensOf(message, tokenizer));
  const gate =
    cachePrice === null ? () => true : cacheGate(cachePrice, (index) => before[index] ?? 0, form.fitted);
  let spared = false;
  const known = new KnownBlocks(task);
  const cuts = tier === 'extractive' || form.switches.length > 0;
  const requestedBudget = budgetOf(task, before);
  const budget =
    cachePrice === null ? requestedBudget : Math.max(requestedBudget, leastLeft(cachePrice) + ABOVE_MINIMUM);
  const result = compress(asChat(withBreakpoint(messages, form.plain)), {
    tier: cuts ? 'extractive' : 'lossless',
    budget,
    tokenizer,
    recoverable: !retrieve,
    always: mustFit,
    remembered: (id, message) => known.selection(id, message),
    accept(message, saved) {
      const accepted = gate(message, saved);
      spared ||= !accepted;
      return accepted;
    },
    ...(query !== null && { query }),
  });
  const notes = known.notesOf(result.selections);
  spared ||= budget > requestedBudget && result.account.tokens_after > requestedBudget;
  return resultOf(task, result, tokenizer, {
    notes,
    spared,
    needed: result.needed,
    restored: known.restored,
  });
}

function budgetOf({ tier, budget }: CompressionTask, before: readonly number[]): number {
  if (tier === 'lossless') return NO_BUDGET;
  const share = budget ?? DEFAULT_SHARE;
  return share < 1 ? Math.max(1, Math.floor(before.reduce((a, b) => a + b, 0) * share)) : share;
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

/** An explicit breakpoint tells the engine to leave everything before it as it came. */
function withBreakpoint(messages: readonly JsonObject[], plain: number): readonly JsonObject[] {
  const last = messages[plain - 1];
  return last === undefined ? messages : messages.with(plain - 1, { ...last, cache_control: true });
}

/** The forms that blocks must have: those that were sent before keep theirs, others may be cut anew. */
class KnownBlocks {
  readonly #task: CompressionTask;
  readonly #options: string;
  /** The first message with each block. It decides, since equal blocks must be sent equal. */
  readonly #first = new Map<string, number>();
  /** Whether a block was cut before that must now be sent whole. */
  restored = false;

  constructor(task: CompressionTask) {
    this.#task = task;
    this.#options = optionsOf(task);
  }

  /** The selection for a block, as `compress` asks for it, in order. */
  selection(id: string, message: number): Selection | 'whole' | undefined {
    if (!this.#first.has(id)) this.#first.set(id, message);
    if (this.#isWhole(id)) return 'whole';
    const note = this.#noteOf(id);
    const sent = this.#isSent(id);
    if (sent && note?.selection.recoverable === false && !this.#task.retrieve) this.restored = true;
    return this.#task.binding || sent || note?.options === this.#options ? note?.selection : undefined;
  }

  /** The notes to store of this call. */
  notesOf(selections: readonly RememberedSelection[]): CompressionResult['notes'] {
    const cuttable = new Map<string, Selection>();
    for (const { id, selection } of selections)
      if (!this.#isWhole(id) && !cuttable.has(id)) cuttable.set(id, selection);
    return [...cuttable].map(([id, selection]) => {
      const replaces = this.#task.notes.get(id) ?? null;
      const same = this.#noteOf(id)?.selection.digest === selection.digest;
      const value = JSON.stringify({ options: this.#options, selection } satisfies BlockNote);
      return { key: id, value: same && replaces !== null && this.#isSent(id) ? replaces : value, replaces };
    });
  }

  #isWhole(id: string): boolean {
    return !isCutAt(this.#task.form.switches, this.#first.get(id) ?? 0);
  }

  #isSent(id: string): boolean {
    return (this.#first.get(id) ?? 0) < this.#task.sent;
  }

  #noteOf(id: string): BlockNote | null {
    return readNote(this.#task.notes.get(id) ?? null);
  }
}

function readNote(value: string | null): BlockNote | null {
  return value === null ? null : (JSON.parse(value) as BlockNote);
}

function optionsOf({ budget, retrieve }: CompressionTask): string {
  return `${budget ?? 'default'} ${retrieve ? 'retrieve' : 'recoverable'}`;
}

/** The request's schema has checked that they are messages. */
function asChat(messages: readonly JsonObject[]): readonly ChatMessage[] {
  return messages as readonly ChatMessage[];
}
