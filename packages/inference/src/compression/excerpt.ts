import { rankTexts, type Tokenizer } from '@tallystick/compress';
import type { RetrieveArguments } from './retrieve-tool.ts';
import type { Removed } from './task.ts';
import { tokenizerOf } from './tokenizers.ts';

/** A call of the tool for a block that was cut. All of it can be sent to a thread. */
export interface ExcerptTask extends Pick<Removed, 'id' | 'unit'>, NonNullable<Removed['cut']> {
  readonly wanted: RetrieveArguments;
  /** Numbers of the units that the model was given before. */
  readonly given: ReadonlySet<number>;
  /** Most tokens of the result. */
  readonly maxTokens: number;
  /** Account whose token counts are cached. */
  readonly account: string;
}

export interface Excerpt {
  /** What the model reads. */
  readonly text: string;
  /** Numbers of the units that it has whole with this. */
  readonly given: readonly number[];
}

/** A unit that was cut, or a part of it. */
interface CutUnit {
  /** Number of the mark in the prompt that stands for it, from 1. */
  readonly gap: number;
  /** Number of the unit in the uncut text, from 1. */
  readonly number: number;
  readonly text: string;
  /** UTF-16 units of it before `text`. */
  readonly skipped: number;
  /** Whether `text` reaches to its end. */
  readonly ends: boolean;
}

/** Tokens of the longest line before a stretch, and of the last line. */
const HEAD_TOKENS = 24;
const END_TOKENS = 60;

/**
 * Gives back what was cut from a block, without what the model has. Each stretch stands behind a line that begins with the
 * block's mark, which the uncut text does not contain, and names its mark in the prompt and its units; a line break
 * follows it. The last line says how to go on. If not all of it fits, the units come in their order or, with a query,
 * those that it needs most.
 */
export function excerptOf(task: ExcerptTask): Excerpt {
  const { mark, unit, wanted, maxTokens } = task;
  const units = wantedUnits(task);
  if (units.length === 0)
    return { text: 'Nothing is missing there that you were not given before.', given: [] };
  const tokenizer = tokenizerOf(task.account, 'o200k_base');
  const room = maxTokens - END_TOKENS;
  const costs = units.map(({ text }) => tokenizer.count(text));
  const next = fitting(units, costs, room);
  const { query } = wanted;
  const ranked =
    next.length === units.length || query === null
      ? []
      : fitting(
          units,
          costs,
          room,
          rankTexts(
            units.map(({ text }) => text),
            query,
          ),
        );
  const [first] = units;
  const chosen = ranked.length > 0 ? ranked : next;
  const parts = chosen.length > 0 || first === undefined ? chosen : [beginning(first, room, tokenizer)];
  const whole = new Set(parts.filter(({ ends }) => ends).map(({ number }) => number));
  const left = units.filter(({ number }) => !whole.has(number));
  const how =
    ranked.length > 0
      ? 'The same call gives those that are the next nearest to the query.'
      : `Go on with ${nextOf(task, parts, left)}`;
  const end = left.length === 0 ? 'That is all.' : `${left.length} more ${unit} are missing there. ${how}`;
  return { text: `${stretchesOf(task, parts)}${mark} ${end}`, given: [...whole] };
}

function wantedUnits({ gaps, given, wanted }: ExcerptTask): CutUnit[] {
  const { from, to, offset } = wanted;
  return gaps.flatMap(({ first, units }, gap) =>
    units.flatMap((whole, i) => {
      const number = first + i;
      if (number < from || number > to || given.has(number)) return [];
      const skipped = number === from ? offset : 0;
      const text = whole.slice(skipped);
      return text === '' ? [] : [{ gap: gap + 1, number, text, skipped, ends: true }];
    }),
  );
}

/** The units that fit, in their order: the first ones, or the first ones by rank, of which one that is too long is passed over. */
function fitting(
  units: readonly CutUnit[],
  costs: readonly number[],
  room: number,
  ranks?: readonly number[],
): CutUnit[] {
  const taken = new Set<number>();
  let free = room;
  for (const at of ranks ?? units.keys()) {
    const cost =
      (costs[at] ?? 0) + (taken.has(at - 1) && follows(units[at - 1], units[at]) ? 0 : HEAD_TOKENS);
    if (cost <= free) {
      taken.add(at);
      free -= cost;
    } else if (ranks === undefined) break;
  }
  return units.filter((_, at) => taken.has(at));
}

/** As much of a unit as fits. */
function beginning(unit: CutUnit, room: number, tokenizer: Tokenizer): CutUnit {
  let length = room;
  const cut = (): string => unit.text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
  while (tokenizer.count(cut()) > room - HEAD_TOKENS) length = Math.ceil(length / 2);
  return { ...unit, text: cut(), ends: false };
}

function follows(before: CutUnit | undefined, unit: CutUnit | undefined): boolean {
  return before !== undefined && before.gap === unit?.gap && before.number + 1 === unit.number;
}

/** The arguments of the call that goes on after these parts, as JSON. */
function nextOf(
  { id, wanted: { to } }: ExcerptTask,
  parts: readonly CutUnit[],
  [next]: readonly CutUnit[],
): string {
  const last = parts.at(-1);
  const offset = last === undefined || last.ends ? 0 : last.skipped + last.text.length;
  return JSON.stringify({
    id,
    from: next?.number,
    ...(to < Number.POSITIVE_INFINITY && { to }),
    ...(offset > 0 && { offset }),
  });
}

/** The parts with their heads; units that follow one another have one together. */
function stretchesOf({ mark, unit }: ExcerptTask, parts: readonly CutUnit[]): string {
  let out = '';
  for (let i = 0; i < parts.length; ) {
    const from = i++;
    while (i < parts.length && follows(parts[i - 1], parts[i])) i++;
    const stretch = parts.slice(from, i);
    const { gap = 0, number = 0, skipped = 0, ends = true } = stretch[0] ?? {};
    const part = skipped > 0 || !ends ? `, from character ${skipped}` : '';
    out += `${mark} ${gap}: ${unit} ${number}-${stretch.at(-1)?.number}${part}\n`;
    out += `${stretch.map(({ text }) => text).join('')}\n`;
  }
  return out;
}
