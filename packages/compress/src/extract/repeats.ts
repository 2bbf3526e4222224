import { safeCut } from './spans.ts';
import type { CountedUnit } from './units.ts';

/** A run of units that repeats, word for word, an earlier run in the same block that is kept whole. */
export interface Repeat {
  /** Index of its first unit; `first` is the index of the first unit that it repeats. */
  readonly at: number;
  readonly first: number;
  readonly length: number;
}

/** The longest runs of units that repeat earlier ones, in order. The first of equal units is never part of such a run. */
export function repeatsOf(text: string, units: readonly CountedUnit[]): Repeat[] {
  const firsts = firstsOf(text, units);
  const repeats: Repeat[] = [];
  for (let at = 0; at < units.length; at++) {
    const first = firsts[at] ?? at;
    const last = repeats.at(-1);
    if (first === at) continue;
    if (last !== undefined && at === last.at + last.length && first === last.first + last.length)
      repeats[repeats.length - 1] = { ...last, length: last.length + 1 };
    else repeats.push({ at, first, length: 1 });
  }
  return repeats;
}

/** For each unit, the first unit with the same text; the unit itself if it is blank or fixed. */
function firstsOf(text: string, units: readonly CountedUnit[]): number[] {
  const seen = new Map<string, number>();
  return units.map(({ start, end, fixed }, i) => {
    const content = text.slice(start, end).trimEnd();
    const first = seen.get(content);
    if (fixed || content === '') return i;
    if (first === undefined) seen.set(content, i);
    return first ?? i;
  });
}

const MAX_QUOTE = 60;

/** The mark for a repeated stretch, which quotes the stretch's beginning. */
export function repeatMark(text: string, unit: CountedUnit, length: number, name: string): string {
  const line = text.slice(unit.start, unit.end).trim().replaceAll(/\s+/g, ' ');
  const quote = line.length <= MAX_QUOTE ? line : beginning(line);
  const more = length === 1 ? '' : ` and the ${length - 1} ${name} after it`;
  return `"${quote}"${more}, again`;
}

function beginning(line: string): string {
  return `${line.slice(0, safeCut(line, MAX_QUOTE / 2, MAX_QUOTE)).trimEnd()} …`;
}
