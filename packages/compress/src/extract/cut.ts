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
  const keeping = (kept: readonly boolean[]): Attempt => {
    const cuts = assemble(blocks, kept, tokenizer);
    const tokens = cuts.reduce((sum, cut, i) => sum + tokenizer.count(cut?.text ?? blocks[i]?.text ?? ''), 0);
    return { kept, cuts, tokens };
  };
  const best = fitted(plan.budget, (target) => keeping(near(target, choose, blocks)));
  return filled(best, plan.budget, { choices, order, keeping }).cuts;
}

interface Attempt {
  readonly kept: readonly boolean[];
  readonly cuts: readonly (BlockCut | undefined)[];
  readonly tokens: number;
}

/** Share of the budget from which on it counts as used, most units that are tried to fill the rest of it, and largest budget with which they are. */
const USED = 0.95;
const MOST_TRIED = 24;
const MOST_FILLED = 4000;

interface Filling {
  readonly choices: readonly Choice[];
  readonly order: readonly number[];
  readonly keeping: (kept: readonly boolean[]) => Attempt;
}

/** Adds units one by one to what leaves room, since the cost of marks is only estimated before: that of a small budget is much of it. */
function filled(attempt: Attempt, budget: number, { choices, order, keeping }: Filling): Attempt {
  let best = attempt;
  let tried = budget > MOST_FILLED ? MOST_TRIED : 0;
  for (const entry of order) {
    if (best.tokens > budget || best.tokens >= budget * USED || tried >= MOST_TRIED) break;
    const i = entry % choices.length;
    if (best.kept[i] === true || (choices[i]?.tokens ?? 0) > budget - best.tokens) continue;
    const kept = [...best.kept];
    for (let up: number | undefined = i; up !== undefined; up = choices[up]?.heading) kept[up] = true;
    const more = keeping(kept);
    if (more.tokens <= budget && more.tokens > best.tokens) best = more;
    tried++;
  }
  return best;
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
/** Share of the budget that all headings together may take for each to be kept with what stands under it, however small the budget is. */
const FEW_HEADINGS = 0.15;
/** Matches headings without which the text under them would be taken wrongly: dates, sessions, versions, negations. */
const telling =
  /^(?:from|date|subject):|\b(?:\d{4}|v?\d+\.\d+\.\d+|session|not|no|never|none|without|except(?:ions?)?|forbidden|prohibited|banned|excluded|unless|old|former|previous|superseded|obsolete|deprecated|withdrawn|cancel(?:l?ed)|rejected|discontinued|expired|void|false|wrong|incorrect|untrue|myths?|bad|draft|proposed|planned|avoid|don['’]?ts?|only|allowed|kein|keine|nicht|verboten|interdits?|sauf|prohibido)\b/i;

function choicesOf(
  prepared: readonly Piece[],
  { ranking, query, worth, headings, budget }: CutPlan,
): Choice[] {
  const scores = ranking(
    prepared.flatMap((one, block) => scoredUnits(one, block)),
    query,
  );
  const all = prepared.flatMap(({ units }) => units);
  const sumOf = (units: readonly CountedUnit[]): number => units.reduce((sum, { tokens }) => sum + tokens, 0);
  const everyHeading =
    budget >= sumOf(all) * ALL_HEADINGS || sumOf(all.filter((unit) => unit.heading)) <= budget * FEW_HEADINGS;
  const choices: Choice[] = [];
  for (const [block, { kind, text, units }] of prepared.entries()) {
    const first = choices.length;
    const at = indexByStart(units);
    const isKeptWith = (above: CountedUnit | undefined): boolean =>
      headings &&
      above !== undefined &&
      (!above.heading ||
        kind === 'dialogue' ||
        everyHeading ||
        telling.test(text.slice(above.start, above.end)));
    const aboveOf = (unit: CountedUnit | undefined): number | undefined => {
      const above = at.get(unit?.under ?? -1);
      return above !== undefined && isKeptWith(units[above]) ? above : undefined;
    };
    for (const [i, unit] of units.entries()) {
      const { tokens, fixed } = unit;
      const heading = aboveOf(unit);
      // A heading of turns says nothing alone: its score comes from its neighbours.
      const score = kind === 'dialogue' && unit.heading ? 0 : (scores[first + i] ?? 0);
      let price = Math.max(1, tokens);
      const own = worth(score, price);
      for (let up = heading; up !== undefined; up = aboveOf(units[up]))
        price += (units[up]?.tokens ?? 0) + GAP_TOKENS;
      choices.push({
        tokens,
        worth: own,
        priced: worth(score, price),
        block,
        heading: heading === undefined ? undefined : first + heading,
        fixed,
      });
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
    if ((kind !== 'prose' && kind !== 'mixed') || paragraphEnd.test(texts[i - 1]?.slice(-40) ?? '\n\n'))
      lead = i;
    const { under } = units[i]?.heading === true ? {} : (units[i] ?? {});
    return {
      text,
      block,
      lead: i - lead,
      heading: under === undefined ? 0 : i - (at.get(under) ?? i),
      turn: kind === 'dialogue',
      name: kind === 'dialogue' ? speakerOf(text.slice(0, 200)) : units[i]?.code,
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
