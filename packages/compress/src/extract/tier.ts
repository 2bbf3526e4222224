import type { Draft, Method } from '../blocks/blocks.ts';
import { rewrite } from '../blocks/blocks.ts';
import type { Kind } from '../blocks/kind.ts';
import { type ChatMessage, textsOf } from '../messages.ts';
import type { CompressOptions } from '../options.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { type CutPlan, cutBlocks } from './cut.ts';
import { idOf } from './marks.ts';
import { askedIn, needsEverything } from './question.ts';
import { type BlockCut, cutRepeats, type Piece, recut, removalOf, wholeSelection } from './rebuild.ts';
import { extractiveRanking } from './relevance.ts';
import type { RememberedSelection } from './selection.ts';
import { type CountedUnit, countedUnits, type Form, finerUnits } from './units.ts';

/** A conversation whose blocks are in their lossless form. */
export interface Uncut {
  readonly messages: readonly ChatMessage[];
  readonly blocks: readonly Draft[];
  /** Number of tokens of the conversation before compression; `allowed` is how many it may have. */
  readonly before: number;
  readonly allowed: number;
  readonly tokenizer: Tokenizer;
}

/** Blocks with fewer tokens are not cut. */
const MIN_CUT_TOKENS = 80;
/** Exponent by which a unit's length counts against it: 0 not at all, 1 in proportion. */
const LENGTH_EXPONENT = 0.3;

/** How the units to keep are chosen. */
export interface Strategy extends Pick<CutPlan, 'ranking' | 'worth'> {
  /** Whether the headings above kept units are kept. */
  readonly headings: boolean;
}

export const extractive: Strategy = {
  ranking: extractiveRanking,
  worth: (score, tokens) => score / tokens ** LENGTH_EXPONENT,
  headings: true,
};

/** What cutting did. */
export interface Cut {
  readonly selections: RememberedSelection[];
  /** Whether nothing new was cut because the request needs everything. */
  readonly needed: boolean;
}

/** Cuts the blocks that may be cut until the conversation is within the budget, as far as that is possible. */
export function cutToBudget(uncut: Uncut, options: CompressOptions, strategy: Strategy): Cut {
  const { messages, blocks, before, allowed, tokenizer } = uncut;
  const material = blocks
    .filter(isCuttable)
    .map((block) => ({ block, piece: pieceOf(block, tokenizer) }))
    .filter(({ piece }) => piece.units.some(({ fixed }) => !fixed));
  const open = material.filter(({ block, piece }) => !recall(block, piece, options, tokenizer));
  const now = blocks.reduce((sum, block) => sum + block.tokens_after - block.tokens_before, before);
  const query = options.query ?? askedLast(messages);
  const exceeds = now > allowed && open.length > 0;
  const needed = exceeds && options.always !== true && options.recoverable !== true && needsEverything(query);
  if (exceeds && !needed) {
    const theirs = open.reduce((sum, { block }) => sum + block.tokens_after, 0);
    const plan = { ...strategy, query, budget: Math.max(0, allowed - (now - theirs)) };
    const cuts =
      options.recoverable === true
        ? open.map(({ piece }) => ({ piece, cut: cutRepeats(piece, tokenizer) }))
        : cutFilling(
            open.map(({ piece }) => piece),
            plan,
            tokenizer,
          );
    for (const [i, { block }] of open.entries()) {
      const { piece, cut } = cuts[i] ?? {};
      if (piece !== undefined) record(block, piece, cut, 'extract', tokenizer);
    }
  }
  const selections = material.map(({ block, piece }) => ({
    id: piece.id,
    selection: block.removed === null ? wholeSelection(piece) : block.removed.selection,
  }));
  return { selections, needed };
}

/** Part of the budget that is to be used; where long units leave more of it free, they are cut further. */
const WELL_USED = 0.9;

interface PieceCut {
  readonly piece: Piece;
  readonly cut: BlockCut | undefined;
}

function cutFilling(pieces: readonly Piece[], plan: CutPlan, tokenizer: Tokenizer): PieceCut[] {
  const attempt = (tried: readonly Piece[]): { cuts: PieceCut[]; tokens: number } => {
    const found = cutBlocks(tried, plan, tokenizer);
    const cuts = tried.map((piece, i) => ({ piece, cut: found[i] }));
    return {
      cuts,
      tokens: cuts.reduce((sum, { piece, cut }) => sum + tokenizer.count((cut ?? piece).text), 0),
    };
  };
  const first = attempt(pieces);
  if (first.tokens >= plan.budget * WELL_USED && first.tokens <= plan.budget) return first.cuts;
  const finer = attempt(pieces.map((piece) => finerPiece(piece, tokenizer)));
  const better =
    finer.tokens <= plan.budget
      ? finer.tokens > first.tokens || first.tokens > plan.budget
      : finer.tokens < first.tokens;
  return better ? finer.cuts : first.cuts;
}

/** Forms whose units are rows or values, which are never cut further. */
const whole: ReadonlySet<Form> = new Set<Form>([
  'json',
  'jsonl',
  'json-tsv',
  'jsonl-tsv',
  'json-toon',
  'json-compact',
]);

function finerPiece(piece: Piece, tokenizer: Tokenizer): Piece {
  if (whole.has(piece.form)) return piece;
  return { ...piece, finer: true, units: finerUnits(piece.text, piece.units, tokenizer) };
}

function isCuttable({ steps, tokens_after: tokens }: Draft): boolean {
  return tokens >= MIN_CUT_TOKENS && !steps.some(({ method }) => method === 'dedupe');
}

function record(
  block: Draft,
  piece: Piece,
  cut: BlockCut | undefined,
  method: Method,
  tokenizer: Tokenizer,
): void {
  if (cut === undefined) return;
  rewrite(block, cut.text, method, tokenizer.count(cut.text));
  block.removed = removalOf(piece, cut);
}

/** Gives a block the bytes that it had in an earlier call, if the remembered selection still gives those. */
function recall(
  block: Draft,
  piece: Piece,
  { remembered, recoverable }: CompressOptions,
  tokenizer: Tokenizer,
): boolean {
  const selection = remembered?.(piece.id, block.message);
  if (selection === 'whole') return true;
  if (selection === undefined || (recoverable === true && !selection.recoverable)) return false;
  const own = selection.finer ? finerPiece(piece, tokenizer) : piece;
  const cut = recut(own, selection, tokenizer);
  if (cut === undefined) return false;
  if (cut !== 'whole') record(block, own, cut, 'remembered', tokenizer);
  return true;
}

function pieceOf(block: Draft, tokenizer: Tokenizer): Piece {
  const { kind, original, text, steps } = block;
  const method = steps.at(-1)?.method;
  const form = method === undefined ? kind : formOf(kind, method);
  return { kind, form, finer: false, id: idOf(original), text, units: unitsNow(block, tokenizer) };
}

/** The units of a block's present text. */
function unitsNow({ kind, text, steps, units }: Draft, tokenizer: Tokenizer): readonly CountedUnit[] {
  const step = steps.at(-1);
  return step === undefined ? units : countedUnits(formOf(kind, step.method), text, tokenizer);
}

/** The form of a block's present text. Lines whose runs were collapsed and JSON that was only minified keep their kind. */
function formOf(kind: Kind, method: Method): Form {
  return method === 'json-tsv' || method === 'jsonl-tsv' || method === 'json-toon' ? method : kind;
}

/** Returns the question of the last user message. */
function askedLast(messages: readonly ChatMessage[]): string {
  const index = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[index];
  if (message === undefined) return '';
  return askedIn(
    textsOf(message, index)
      .map(({ text }) => text)
      .join('\n\n'),
  );
}
