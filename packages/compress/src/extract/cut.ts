import { speakerOf } from '../blocks/kind.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { logSalience } from './logs.ts';
import { type BlockCut, cutTo, type Piece } from './rebuild.ts';
import type { Ranking } from './relevance.ts';
import type { Scored } from './scored.ts';
import { type Choice, ranked, select } from './select.ts';
import type { CountedUnit } from './units.ts';

/** A block that may be cut. */
export interface Cuttable extends Piece {
  /** Whether its first and its last unit may be instructions, which are kept. */
  readonly instructs: boolean;
}

export interface CutPlan {
  readonly query: string;
  /** Number of tokens that the blocks may have together. */
  readonly budget: number;
  readonly ranking: Ranking;
  readonly worth: (score: number, tokens: number) => number;
  /** Whether a heading is kept if a unit under it is kept. */
  readonly headings: boolean;
}

/** Approximate cost of a gap's mark in tokens: a little more if it stands within a line. */
const GAP_TOKENS = 1.2;
/** Most tokens of an instruction; a longer unit is material. */
const MAX_INSTRUCTION_TOKENS = 120;
/** Approximate cost of a notice in tokens. */
const NOTICE_TOKENS = 18;
const ROUNDS = 6;
const MOST_ROUNDS = 16;

/**
 * Cuts blocks to what the question needs, all by one measure within one budget. The result is undefined for a block that
 * would gain nothing from it.
 */
export function cutBlocks(
  blocks: readonly Cuttable[],
  plan: CutPlan,
  tokenizer: Tokenizer,
): readonly (BlockCut | undefined)[] {
  const prepared = blocks.map((block) => ({ ...block, units: protectInstructions(block) }));
  const choices = choicesOf(prepared, plan);
  const order = ranked(choices);
  const choose = (target: number): boolean[] => select(choices, order, target, GAP_TOKENS);
  const attempt = (target: number): Attempt => {
    const cuts = assemble(prepared, near(target, choose, prepared), tokenizer);
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
function near(
  budget: number,
  choose: (target: number) => boolean[],
  prepared: readonly Cuttable[],
): boolean[] {
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
function estimate(prepared: readonly Cuttable[], kept: readonly boolean[]): number {
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

/** Fixes the first and the last unit of a user's text if they are short. */
function protectInstructions({ instructs, units }: Cuttable): readonly CountedUnit[] {
  if (!instructs) return units;
  return units.map((unit, i) => {
    const edge = i === 0 || i === units.length - 1;
    return edge && unit.tokens <= MAX_INSTRUCTION_TOKENS ? { ...unit, fixed: true } : unit;
  });
}

function choicesOf(prepared: readonly Cuttable[], { ranking, query, worth, headings }: CutPlan): Choice[] {
  const scores = ranking(
    prepared.flatMap((one, block) => scoredUnits(one, block)),
    query,
  );
  const choices: Choice[] = [];
  for (const [block, { units }] of prepared.entries()) {
    const first = choices.length;
    let heading: number | undefined;
    for (const [i, { tokens, fixed, ...unit }] of units.entries()) {
      if (unit.heading) heading = first + i;
      const own = worth(scores[first + i] ?? 0, Math.max(1, tokens));
      choices.push({
        tokens,
        worth: own,
        block,
        heading: unit.heading || !headings ? undefined : heading,
        fixed,
      });
    }
  }
  return choices;
}

function scoredUnits({ kind, text: whole, units }: Cuttable, block: number): Scored[] {
  const texts = units.map(({ start, end }) => whole.slice(start, end));
  const salience = kind === 'log' ? logSalience(texts) : undefined;
  let lead = 0;
  let heading: number | undefined;
  return texts.map((text, i) => {
    if (kind !== 'prose' || paragraphEnd.test(texts[i - 1]?.slice(-40) ?? '\n\n')) lead = i;
    if (units[i]?.heading === true) heading = i;
    return {
      text,
      block,
      lead: i - lead,
      heading: i - (heading ?? i),
      speaker: kind === 'dialogue' ? speakerOf(text.slice(0, 200)) : undefined,
      edge: i === 0 || i === texts.length - 1,
      salience: salience?.[i] ?? 0,
    };
  });
}

const paragraphEnd = /\n[ \t\r]*\n\s*$/;

function assemble(
  prepared: readonly Cuttable[],
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
