import { speakerOf } from '../blocks/kind.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { logSalience } from './logs.ts';
import { type BlockCut, cutTo, type Piece } from './rebuild.ts';
import type { Ranking } from './relevance.ts';
import type { Scored } from './scored.ts';
import { type Choice, ranked, select } from './select.ts';
import type { CountedUnit } from './units.ts';

export interface CutPlan {
  readonly query: string;
  /** Number of tokens that the blocks may have together. */
  readonly budget: number;
  readonly ranking: Ranking;
  readonly worth: (score: number, tokens: number) => number;
  /** Whether headings are kept if a unit under them is kept. */
  readonly headings: boolean;
}

/** Approximate cost of a gap's mark in tokens: a little more if it stands within a line. */
const GAP_TOKENS = 1.2;
/** Approximate cost of a notice in tokens. */
const NOTICE_TOKENS = 18;
const ROUNDS = 6;
const MOST_ROUNDS = 16;

/**
 * Cuts blocks to what the question needs, all by one measure within one budget. The result is undefined for a block that
 * would gain nothing from it.
 */
export function cutBlocks(
  blocks: readonly Piece[],
  plan: CutPlan,
  tokenizer: Tokenizer,
): readonly (BlockCut | undefined)[] {
  const choices = choicesOf(blocks, plan);
  const order = ranked(choices);
  const choose = (target: number): boolean[] => select(choices, order, target, GAP_TOKENS);
  const attempt = (target: number): Attempt => {
    const cuts = assemble(blocks, near(target, choose, blocks), tokenizer);
    const tokens = cuts.reduce((sum, cut, i) => sum + tokenizer.count(cut?.text ?? blocks[i]?.text ?? ''), 0);
    return { cuts, tokens };
  };
  return fitted(plan.budget, attempt).cuts;
}

interface Attempt {
  readonly cuts: readonly (BlockCut | undefined)[];
  readonly tokens: number;
}

/** The attempt that comes nearest to the budget without exceeding it; if each exceeds it, the one with the fewest tokens. */
function fitted(budget: number, attempt: (target: number) => Attempt): Attempt {
  let target = budget;
  let last = attempt(target);
  let best = last;
  for (let round = 1; round < (best.tokens > budget ? MOST_ROUNDS : ROUNDS); round++) {
    const slack = budget - last.tokens;
    if ((slack >= 0 && slack <= budget / 200) || target <= 0) break;
    // With each round that is over the budget, the target is lowered by more.
    target += slack < 0 ? round * (slack - 1) : slack;
    last = attempt(target);
    if (best.tokens > budget ? last.tokens < best.tokens : last.tokens <= budget && last.tokens > best.tokens)
      best = last;
  }
  return best;
}

/** A selection whose estimated tokens come near to `budget`; the cost of marks depends on the selection. */
function near(budget: number, choose: (target: number) => boolean[], prepared: readonly Piece[]): boolean[] {
  let target = budget;
  let kept = choose(target);
  for (let round = 1; round < ROUNDS; round++) {
    const slack = budget - estimate(prepared, kept);
    if (slack >= 0 && slack <= budget / 200) break;
    target += slack;
    kept = choose(target);
  }
  return kept;
}

/** Estimates the tokens of a selection, without assembling its text. */
function estimate(prepared: readonly Piece[], kept: readonly boolean[]): number {
  let tokens = 0;
  let next = 0;
  for (const { units } of prepared) {
    let left = 0;
    let inGap = false;
    for (const unit of units) {
      const keeps = kept[next++] === true;
      if (keeps) tokens += unit.tokens;
      else if (!inGap) tokens += GAP_TOKENS;
      if (!keeps) left++;
      inGap = !keeps;
    }
    if (left > 0) tokens += NOTICE_TOKENS;
  }
  return tokens;
}

const indexByStart = (units: readonly CountedUnit[]): ReadonlyMap<number, number> =>
  new Map(units.map(({ start }, i) => [start, i]));

/** Share of the tokens from which on every heading is kept with what stands under it; below it, those that turn its meaning. */
const ALL_HEADINGS = 0.24;
/** Matches headings without which the text under them would be taken wrongly: dates, sessions, versions, negations. */
const telling =
  /^(?:from|date|subject):|\b(?:\d{4}|session|not|no|never|none|without|except(?:ions?)?|forbidden|prohibited|banned|excluded|unless|old|former|previous|superseded|obsolete|deprecated|withdrawn|cancel(?:l?ed)|rejected|discontinued|expired|void|false|wrong|incorrect|untrue|myths?|bad|draft|proposed|planned|avoid|don['’]?ts?|only|allowed|kein|keine|nicht|verboten|interdits?|sauf|prohibido)\b/i;

function choicesOf(
  prepared: readonly Piece[],
  { ranking, query, worth, headings, budget }: CutPlan,
): Choice[] {
  const scores = ranking(
    prepared.flatMap((one, block) => scoredUnits(one, block)),
    query,
  );
  const before = prepared.reduce((all, { units }) => units.reduce((sum, { tokens }) => sum + tokens, all), 0);
  const choices: Choice[] = [];
  for (const [block, { kind, text, units }] of prepared.entries()) {
    const first = choices.length;
    const at = indexByStart(units);
    const isKeptWith = (above: CountedUnit | undefined): boolean =>
      headings &&
      above !== undefined &&
      (!above.heading ||
        kind === 'dialogue' ||
        budget >= before * ALL_HEADINGS ||
        telling.test(text.slice(above.start, above.end)));
    for (const [i, { tokens, fixed, under }] of units.entries()) {
      const above = at.get(under ?? -1) ?? -1;
      const own = worth(scores[first + i] ?? 0, Math.max(1, tokens));
      const heading = isKeptWith(units[above]) ? first + above : undefined;
      choices.push({ tokens, worth: own, block, heading, fixed });
    }
  }
  return choices;
}

function scoredUnits({ kind, text: whole, units }: Piece, block: number): Scored[] {
  const texts = units.map(({ start, end }) => whole.slice(start, end));
  const salience = kind === 'log' ? logSalience(texts) : undefined;
  let lead = 0;
  const at = indexByStart(units);
  return texts.map((text, i) => {
    if (kind !== 'prose' || paragraphEnd.test(texts[i - 1]?.slice(-40) ?? '\n\n')) lead = i;
    const { under } = units[i]?.heading === true ? {} : (units[i] ?? {});
    return {
      text,
      block,
      lead: i - lead,
      heading: under === undefined ? 0 : i - (at.get(under) ?? i),
      speaker: kind === 'dialogue' ? speakerOf(text.slice(0, 200)) : undefined,
      edge: i === 0 || i === texts.length - 1,
      salience: salience?.[i] ?? 0,
    };
  });
}

const paragraphEnd = /\n[ \t\r]*\n\s*$/;

function assemble(
  prepared: readonly Piece[],
  kept: readonly boolean[],
  tokenizer: Tokenizer,
): (BlockCut | undefined)[] {
  let first = 0;
  return prepared.map((one) => {
    const own = kept.slice(first, first + one.units.length);
    first += one.units.length;
    return cutTo(one, own, tokenizer);
  });
}
