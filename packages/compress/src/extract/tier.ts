import type { Draft, Method } from '../blocks/blocks.ts';
import { rewrite } from '../blocks/blocks.ts';
import type { Kind } from '../blocks/kind.ts';
import { type ChatMessage, textsOf } from '../messages.ts';
import type { CompressOptions, Tier } from '../options.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { type Cuttable, cutBlocks } from './cut.ts';
import { idOf } from './marks.ts';
import { extractiveRanking, plainBm25 } from './relevance.ts';
import { type CountedUnit, countedUnits, type Form } from './units.ts';

/** A conversation whose blocks are in their lossless form. */
export interface Uncut {
  readonly messages: readonly ChatMessage[];
  readonly blocks: readonly Draft[];
  /** Tokens of the conversation as it came, and how many it may have. */
  readonly before: number;
  readonly allowed: number;
  readonly tier: Exclude<Tier, 'lossless'>;
  readonly tokenizer: Tokenizer;
}

/** Blocks below this many tokens are not cut. */
const MIN_CUT_TOKENS = 80;
/** How much a unit's length counts against it: 0 not at all, 1 in proportion. */
const LENGTH_EXPONENT = 0.35;

const strategies = {
  bm25: { method: 'bm25', ranking: plainBm25, worth: (score: number): number => score },
  extractive: {
    method: 'extract',
    ranking: extractiveRanking,
    worth: (score: number, tokens: number): number => score / tokens ** LENGTH_EXPONENT,
  },
} as const;

/** Cuts what may be cut until the whole is within what is allowed, as far as that goes. */
export function cutToBudget(uncut: Uncut, { query, remembered }: CompressOptions): void {
  const { messages, blocks, before, allowed, tier, tokenizer } = uncut;
  const open = blocks.filter((block) => isCuttable(block) && !recall(block, remembered, tokenizer));
  const now = blocks.reduce((sum, block) => sum + block.tokens_after - block.tokens_before, before);
  const material = open
    .map((block) => ({ block, cuttable: cuttableOf(block, messages, tokenizer) }))
    .filter(({ cuttable }) => cuttable.units.some(({ fixed }) => !fixed));
  if (now <= allowed || material.length === 0) return;
  const theirs = material.reduce((sum, { block }) => sum + block.tokens_after, 0);
  const { method, ...strategy } = strategies[tier];
  const cuts = cutBlocks(
    material.map(({ cuttable }) => cuttable),
    { query: query ?? askedLast(messages), budget: Math.max(0, allowed - (now - theirs)), ...strategy },
    tokenizer,
  );
  for (const [i, { block }] of material.entries()) {
    const cut = cuts[i];
    if (cut === undefined) continue;
    rewrite(block, cut.text, method, tokenizer.count(cut.text));
    block.removed = cut.removed;
  }
}

function isCuttable({ steps, tokens_after: tokens }: Draft): boolean {
  return tokens >= MIN_CUT_TOKENS && !steps.some(({ method }) => method === 'dedupe');
}

/** Gives a block the bytes that it had in an earlier call, if it was cut there. */
function recall(block: Draft, remembered: CompressOptions['remembered'], tokenizer: Tokenizer): boolean {
  const cut = remembered?.(idOf(block.text));
  if (cut === undefined) return false;
  rewrite(block, cut.text, 'remembered', tokenizer.count(cut.text));
  block.removed = cut.removed;
  return true;
}

function cuttableOf(block: Draft, messages: readonly ChatMessage[], tokenizer: Tokenizer): Cuttable {
  const { kind, text } = block;
  const instructs = messages[block.message]?.role === 'user';
  return { kind, text, units: unitsNow(block, tokenizer), instructs };
}

/** The units of a block's text as it is now. */
function unitsNow({ kind, text, steps, units }: Draft, tokenizer: Tokenizer): readonly CountedUnit[] {
  const step = steps.at(-1);
  return step === undefined ? units : countedUnits(formOf(kind, step.method), text, tokenizer);
}

/** Lines whose runs were collapsed, and JSON that was only minified, are still of their kind. */
function formOf(kind: Kind, method: Method): Form {
  return method === 'json-tsv' || method === 'jsonl-tsv' || method === 'json-toon' ? method : kind;
}

/** Longer questions are material, of which the first and the last paragraph may ask. */
const MAX_QUESTION = 1000;

/** What the last user message asks. */
function askedLast(messages: readonly ChatMessage[]): string {
  const index = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[index];
  if (message === undefined) return '';
  const texts = textsOf(message, index).map(({ text }) => text);
  const text = texts.join('\n\n').trim();
  if (text.length <= MAX_QUESTION) return text;
  const first = text.slice(0, text.search(/\n\s*\n|$/));
  const last = text.slice(text.lastIndexOf('\n\n') + 1);
  return `${first.slice(0, MAX_QUESTION / 2)}\n${last.slice(-MAX_QUESTION / 2)}`;
}
