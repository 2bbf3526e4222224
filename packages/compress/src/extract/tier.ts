import type { Draft, Method } from '../blocks/blocks.ts';
import { rewrite } from '../blocks/blocks.ts';
import type { Kind } from '../blocks/kind.ts';
import { type ChatMessage, textsOf } from '../messages.ts';
import type { CompressOptions } from '../options.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { type CutPlan, cutBlocks } from './cut.ts';
import { needsEverything } from './everything.ts';
import { idOf } from './marks.ts';
import { cuttableForms } from './packed-units.ts';
import { askedIn } from './question.ts';
import { type BlockCut, cutRepeats, type Piece, recut, removalOf, wholeSelection } from './rebuild.ts';
import { extractiveRanking } from './relevance.ts';
import type { RememberedSelection } from './selection.ts';
import { type CountedUnit, countedUnits, finerUnits } from './units.ts';

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
  const now = blocks.reduce((sum, block) => sum + block.tokens_after - block.tokens_before, before);
  const share = now > allowed ? allowed / before : 1;
  const pieces = blocks
    .filter(isCuttable)
    .map((block) => ({ block, piece: pieceOf(block, share, options, tokenizer) }));
  const material = pieces.filter(({ piece }) => piece.units.some(({ fixed }) => !fixed));
  const open = material.filter(({ block, piece }) => !recall(block, piece, options, tokenizer));
  const query = options.query ?? askedLast(messages);
  const exceeds = now > allowed && open.length > 0;
  const needed = exceeds && options.always !== true && options.recoverable !== true && needsEverything(query);
  if (exceeds && !needed) {
    const cuttable = open.map(({ piece }) => piece);
    const outside = open.reduce((sum, { block }) => sum - block.tokens_after, now);
    const plan = { ...strategy, query, budget: budgetOf(cuttable, { ...uncut, outside }, options) };
    const cuts =
      options.recoverable === true
        ? cuttable.map((piece) => ({ piece, cut: cutRepeats(piece, tokenizer) }))
        : cutFilling(cuttable, plan, tokenizer);
    const alike = cutAlike(cuts, tokenizer);
    for (const [i, { block }] of open.entries()) {
      const { piece, cut } = alike[i] ?? {};
      if (piece !== undefined) record(block, piece, cut, 'extract', tokenizer);
    }
  }
  // Code that was sent whole stays so, even if a later call allows to cut it.
  const sent = pieces.filter((one) => material.includes(one) || one.block.kind === 'code');
  const selections = sent.map(({ block, piece }) => ({
    id: piece.id,
    selection: block.removed === null ? wholeSelection(piece) : block.removed.selection,
  }));
  return { selections, needed };
}

/** Fewest tokens for what is asked. If what is never cut leaves fewer, the budget can't be met with an answer in it. */
const LEAST_ASKED = 100;

/**
 * Number of tokens that the pieces may have together, beside those `outside` of them. If what is never cut leaves too little, what can be cut still gets
 * the share of its own tokens that the whole conversation was to have.
 */
function budgetOf(
  pieces: readonly Piece[],
  { before, allowed, outside }: Uncut & { readonly outside: number },
  { always }: CompressOptions,
): number {
  const units = pieces.flatMap((piece) => piece.units);
  const fixed = sumOf(units.filter((unit) => unit.fixed));
  const rest = sumOf(units) - fixed;
  const left = allowed - outside - fixed;
  const asked = Math.ceil((rest * allowed) / before);
  const fits = left >= Math.min(LEAST_ASKED, asked / 2) || (always === true && left >= 0);
  return fixed + Math.max(0, fits ? left : asked);
}

const sumOf = (units: readonly CountedUnit[]): number =>
  units.reduce((tokens, unit) => tokens + unit.tokens, 0);

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

/**
 * Cuts equal texts in the same way, as the one that was left the fewest tokens: a later call knows a text by its id alone,
 * and sends all that are equal as the first of them.
 */
function cutAlike(cuts: readonly PieceCut[], tokenizer: Tokenizer): PieceCut[] {
  if (new Set(cuts.map(({ piece }) => piece.id)).size === cuts.length) return [...cuts];
  const shortest = new Map<string, PieceCut>();
  const tokensOf = ({ piece, cut }: PieceCut): number => tokenizer.count((cut ?? piece).text);
  for (const one of cuts) {
    const other = shortest.get(one.piece.id);
    if (other === undefined || tokensOf(one) < tokensOf(other)) shortest.set(one.piece.id, one);
  }
  return cuts.map((one) => shortest.get(one.piece.id) ?? one);
}

function finerPiece(piece: Piece, tokenizer: Tokenizer): Piece {
  return { ...piece, finer: true, units: finerUnits(piece, tokenizer) };
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
  // In another form than it is written in, even the cut text may be longer.
  const tokens = cut === undefined ? 0 : tokenizer.count(cut.text);
  if (cut === undefined || tokens >= block.tokens_after) return;
  rewrite(block, cut.text, method, tokens);
  block.removed = removalOf(piece, cut);
}

/** Gives a block the bytes that it had in an earlier call, if the remembered selection still gives those. */
function recall(block: Draft, piece: Piece, { remembered }: CompressOptions, tokenizer: Tokenizer): boolean {
  const selection = remembered?.(piece.id, block.message);
  if (selection === 'whole') return true;
  if (selection === undefined) return false;
  const own = selection.finer ? finerPiece(piece, tokenizer) : piece;
  const cut = recut(own, selection, tokenizer);
  if (cut === undefined) return false;
  if (cut !== 'whole') record(block, own, cut, 'remembered', tokenizer);
  return true;
}

/** A block in the form in which it is cut: that of an earlier call, else the one of which its share of the tokens keeps most. */
function pieceOf(
  { kind, message, original, text, steps, units, code, tokens_before }: Draft,
  share: number,
  { remembered }: CompressOptions,
  tokenizer: Tokenizer,
): Piece {
  const method = steps.at(-1)?.method;
  const own = { kind, finer: false, code, id: idOf(original) };
  if (method === undefined) return { ...own, form: kind, text, units };
  const pieces = formsOf(kind, method, text).map((written) => ({
    ...own,
    ...written,
    units: countedUnits(written.form, written.text, tokenizer),
  }));
  const known = pieces.length > 1 ? remembered?.(own.id, message) : undefined;
  const earlier = typeof known === 'object' ? pieces.find(({ form }) => form === known.form) : undefined;
  return earlier ?? roomiest(pieces, share * tokens_before);
}

/** The first of the pieces of which most units fit into a budget, going by their mean length. */
const roomiest = (pieces: readonly Piece[], budget: number): Piece =>
  pieces.reduce((best, piece) => (roomIn(piece, budget) > roomIn(best, budget) ? piece : best));

/** Share of a piece's units that fits into a budget beside what is never cut. */
function roomIn({ units }: Piece, budget: number): number {
  const fixed = sumOf(units.filter((unit) => unit.fixed));
  return Math.min(1, (budget - fixed) / Math.max(1, sumOf(units) - fixed));
}

/**
 * The forms in which a block may be cut, that in which it is written first. Lines whose runs were collapsed and JSON that was only
 * minified keep their kind.
 */
function formsOf(kind: Kind, method: Method, text: string): Pick<Piece, 'form' | 'text'>[] {
  if (method === 'json-packed' || method === 'jsonl-packed') return cuttableForms(kind, method, text);
  const table = method === 'json-tsv' || method === 'jsonl-tsv' || method === 'json-toon';
  return [{ form: table ? method : kind, text }];
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
