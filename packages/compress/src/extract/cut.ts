import type { Removal } from '../blocks/blocks.ts';
import { type Kind, turnLabel } from '../blocks/kind.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { logSalience } from './logs.ts';
import { type Marks, marksOf } from './marks.ts';
import type { Ranking, Scored } from './relevance.ts';
import { type Choice, ranked, select } from './select.ts';
import type { CountedUnit } from './units.ts';

/** A block that may be cut. */
export interface Cuttable {
  readonly kind: Kind;
  readonly text: string;
  readonly units: readonly CountedUnit[];
  /** Whether its first and its last unit may be instructions, which stay. */
  readonly instructs: boolean;
}

/** What units are called in a notice. */
const unitNames: Readonly<Partial<Record<Kind, string>>> = {
  dialogue: 'turns',
  prose: 'passages',
  log: 'lines',
  search: 'hits',
  table: 'rows',
  json: 'rows',
  jsonl: 'rows',
};

/** What became of a block. */
export interface Cut {
  readonly text: string;
  readonly removed: Removal;
}

export interface CutPlan {
  readonly query: string;
  /** Tokens that the blocks may have together. */
  readonly budget: number;
  readonly ranking: Ranking;
  readonly worth: (score: number, tokens: number) => number;
}

interface Prepared extends Cuttable {
  readonly marks: Marks;
}

/** What a gap's mark may cost. */
const GAP_TOKENS = 4;
/** Instructions longer than this are material. */
const MAX_INSTRUCTION_TOKENS = 120;
/** What a notice costs, about. */
const NOTICE_TOKENS = 34;
const ROUNDS = 4;

/**
 * Cuts blocks to what the question needs, all of them by one measure within one budget. A block where cutting would
 * gain nothing comes back as undefined.
 */
export function cutBlocks(
  blocks: readonly Cuttable[],
  plan: CutPlan,
  tokenizer: Tokenizer,
): (Cut | undefined)[] {
  const prepared = blocks.map((block) => ({
    ...block,
    units: protectInstructions(block),
    marks: marksOf(block.text),
  }));
  const choices = choicesOf(prepared, plan);
  const order = ranked(choices);
  let target = plan.budget;
  let cuts: (Cut | undefined)[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const kept = planned(prepared, choices, order, target, tokenizer);
    cuts = assemble(prepared, kept, tokenizer);
    const tokens = cuts.reduce((sum, cut, i) => sum + tokenizer.count(cut?.text ?? blocks[i]?.text ?? ''), 0);
    if (tokens <= plan.budget) break;
    target -= tokens - plan.budget + 1;
  }
  return cuts;
}

/** A selection that, by the counts of its units and marks, comes as near to `budget` as the last of a few tries. */
function planned(
  prepared: readonly Prepared[],
  choices: readonly Choice[],
  order: readonly number[],
  budget: number,
  tokenizer: Tokenizer,
): boolean[] {
  let target = budget;
  let kept = select(choices, order, target, GAP_TOKENS);
  for (let round = 0; round < ROUNDS; round++) {
    const slack = budget - estimate(prepared, kept, tokenizer);
    if (slack >= 0 && slack <= budget / 100) break;
    target += slack;
    kept = select(choices, order, target, GAP_TOKENS);
  }
  return kept;
}

/** The tokens that a selection comes to, without putting it together. */
function estimate(prepared: readonly Prepared[], kept: readonly boolean[], tokenizer: Tokenizer): number {
  let tokens = 0;
  let next = 0;
  for (const { units, marks } of prepared) {
    let gap = 0;
    let removed = 0;
    for (const unit of units) {
      const keep = kept[next++] === true;
      if (keep) tokens += unit.tokens;
      if (keep && gap > 0) tokens += tokenizer.count(`${marks.gap(gap)}\n`);
      gap = keep ? 0 : gap + 1;
      if (!keep) removed++;
    }
    if (gap > 0) tokens += tokenizer.count(`${marks.gap(gap)}\n`);
    if (removed > 0) tokens += NOTICE_TOKENS;
  }
  return tokens;
}

/** The first and the last unit of what a user wrote, where they are short. */
function protectInstructions({ instructs, units }: Cuttable): readonly CountedUnit[] {
  if (!instructs) return units;
  return units.map((unit, i) => {
    const edge = i === 0 || i === units.length - 1;
    return edge && unit.tokens <= MAX_INSTRUCTION_TOKENS ? { ...unit, fixed: true } : unit;
  });
}

function choicesOf(prepared: readonly Prepared[], { ranking, query, worth }: CutPlan): Choice[] {
  const scores = ranking(prepared.flatMap(scoredUnits), query);
  const choices: Choice[] = [];
  for (const [block, { units }] of prepared.entries()) {
    const first = choices.length;
    let heading: number | undefined;
    for (const [i, { tokens, fixed, ...unit }] of units.entries()) {
      if (unit.heading) heading = first + i;
      const own = worth(scores[first + i] ?? 0, Math.max(1, tokens));
      choices.push({ tokens, worth: own, block, heading: unit.heading ? undefined : heading, fixed });
    }
  }
  return choices;
}

function scoredUnits({ kind, text: whole, units }: Prepared): Scored[] {
  const texts = units.map(({ start, end }) => whole.slice(start, end));
  const salience = kind === 'log' ? logSalience(texts) : undefined;
  return texts.map((text, i) => ({
    text,
    speaker: kind === 'dialogue' ? turnLabel.exec(text.slice(0, 200))?.[1] : undefined,
    edge: i === 0 || i === texts.length - 1,
    salience: salience?.[i] ?? 0,
  }));
}

function assemble(
  prepared: readonly Prepared[],
  kept: readonly boolean[],
  tokenizer: Tokenizer,
): (Cut | undefined)[] {
  let first = 0;
  return prepared.map((one) => {
    const own = kept.slice(first, first + one.units.length);
    first += one.units.length;
    return assembleBlock(one, own, tokenizer);
  });
}

function assembleBlock(
  { kind, text: whole, units, marks }: Prepared,
  kept: readonly boolean[],
  tokenizer: Tokenizer,
): Cut | undefined {
  const lost = units.filter((_, i) => kept[i] !== true);
  if (lost.length === 0) return undefined;
  const amount = {
    removed: lost.length,
    of: units.filter(({ fixed }) => !fixed).length,
    unit: unitNames[kind] ?? 'parts',
    tokens: lost.reduce((sum, { tokens }) => sum + tokens, 0),
  };
  const lead = whole.startsWith('\n') ? '\n' : '';
  const text = `${lead}${marks.notice(amount)}\n${withGaps(whole, units, kept, marks)}`;
  if (tokenizer.count(text) >= units.reduce((sum, { tokens }) => sum + tokens, 0)) return undefined;
  return { text, removed: { id: marks.id, ...amount } };
}

/** The kept units as they were, and a mark in each gap: on its own line between lines, else within the line. */
function withGaps(
  text: string,
  units: readonly CountedUnit[],
  kept: readonly boolean[],
  { gap }: Marks,
): string {
  let out = '';
  for (let i = 0; i < units.length; ) {
    const from = i;
    while (i < units.length && kept[i] !== true) i++;
    if (i > from) out += between(out, gap(i - from), text.charAt((units[i - 1]?.end ?? 0) - 1));
    const start = units[i]?.start ?? text.length;
    while (i < units.length && kept[i] === true) i++;
    out += text.slice(start, units[i - 1]?.end ?? text.length);
  }
  return out;
}

/** `last` is the character that the gap ended with. */
function between(before: string, mark: string, last: string): string {
  const lead = before === '' || /\s/.test(before.slice(-1)) ? '' : ' ';
  return `${lead}${mark}${last === '\n' ? '\n' : ' '}`;
}
