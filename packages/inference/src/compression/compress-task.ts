import { type ChatMessage, compress, type RememberedSelection, type Selection } from '@tallystick/compress';
import type { JsonObject } from '@tallystick/core';
import { cacheGate, leastLeft } from './cache-gate.ts';
import { isCutAt } from './conversations.ts';
import { DEFAULT_SHARE } from './options.ts';
import { resultOf, tokensOf } from './result.ts';
import type { CompressionResult, CompressionTask } from './task.ts';
import { tokenizerOf } from './tokenizers.ts';

/** The note of a block: the options under which it was cut, and what was kept. */
interface BlockNote {
  readonly options: string;
  /** Whether a caller has accepted that the model cannot ask for what was cut. */
  readonly forGood?: boolean;
  readonly selection: Selection;
}

/** More tokens than any conversation has. */
const NO_BUDGET = Number.MAX_SAFE_INTEGER;
/**
 * Tokens added to the budget at a cache's minimum: what is cut below the minimum is held back, and cutting ends a
 * little below its budget.
 */
const ABOVE_MINIMUM = 64;
/** Compresses a conversation. Blocks that were sent before keep their form. */
export function compressTask(task: CompressionTask): CompressionResult {
  const { messages, tier, retrieve, forGood, code, mustFit, form, cachePrice } = task;
  const tokenizer = tokenizerOf(task.account, task.encoding);
  const before = messages.map((message) => tokensOf(message, tokenizer));
  const until = sentTogether(messages);
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
    recoverable: !retrieve && !forGood,
    always: mustFit,
    code,
    remembered: (id, message) => known.selection(id, message),
    accept(savings) {
      if (cachePrice === null) return new Set(savings.keys());
      const accepted = cacheGate(cachePrice, { before, until, free: form.fitted }, savings);
      spared = accepted.size < savings.size;
      return accepted;
    },
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

/**
 * Of each message the index of the last one that no prompt has without it. The results of one turn's tool calls are sent
 * together, since providers refuse a prompt that lacks one.
 */
function sentTogether(messages: readonly JsonObject[]): readonly number[] {
  const until = messages.map((_, index) => index);
  for (let index = messages.length - 2; index >= 0; index -= 1)
    if (messages[index]?.['role'] === 'tool' && messages[index + 1]?.['role'] === 'tool')
      until[index] = until[index + 1] ?? index;
  return until;
}

function budgetOf({ tier, budget }: CompressionTask, before: readonly number[]): number {
  if (tier === 'lossless') return NO_BUDGET;
  const share = budget ?? DEFAULT_SHARE;
  return share < 1 ? Math.max(1, Math.floor(before.reduce((a, b) => a + b, 0) * share)) : share;
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
    if (note === null || !(this.#task.binding || sent || note.options === this.#options)) return undefined;
    if (this.#mayLack(note)) return note.selection;
    this.restored ||= sent;
    return undefined;
  }

  /** The notes to store of this call. */
  notesOf(selections: readonly RememberedSelection[]): CompressionResult['notes'] {
    const cuttable = new Map<string, Selection>();
    for (const { id, selection } of selections)
      if (!this.#isWhole(id) && !cuttable.has(id)) cuttable.set(id, selection);
    return [...cuttable].map(([id, selection]) => {
      const replaces = this.#task.notes.get(id) ?? null;
      const before = this.#noteOf(id);
      const stays = before?.selection.digest === selection.digest && this.#isSent(id);
      const forGood = this.#task.forGood || (stays && before.forGood === true);
      const options = stays ? before.options : this.#options;
      return {
        key: id,
        value: JSON.stringify({ options, forGood, selection } satisfies BlockNote),
        replaces,
      };
    });
  }

  /** Whether the model may lack what a block was cut of. */
  #mayLack({ forGood, selection }: BlockNote): boolean {
    return selection.recoverable || this.#task.retrieve || this.#task.forGood || forGood === true;
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

function optionsOf({ budget, retrieve, forGood, code }: CompressionTask): string {
  const cut = retrieve ? 'retrieve' : forGood ? 'for good' : 'recoverable';
  return `${budget ?? 'default'} ${cut}${code ? ' code' : ''}`;
}

/** The request's schema has checked that they are messages. */
function asChat(messages: readonly JsonObject[]): readonly ChatMessage[] {
  return messages as readonly ChatMessage[];
}
