import { plain, type Unit } from '../extract/spans.ts';
import { unitsOf } from '../extract/units.ts';
import { collapseLines } from '../lossless/lines.ts';
import type { Segment } from './segments.ts';

/** A segment with its units, whose offsets count from its start. */
export interface Part extends Segment {
  readonly units: readonly Unit[];
}

/** The segments as parts that are not cut into units, for a tier that cuts nothing. */
export const wholeParts = (_text: string, segments: readonly Segment[]): Part[] =>
  segments.map((segment) => ({ ...segment, units: [plain({ start: 0, end: segment.end - segment.start })] }));

/** The segments as parts of their own. */
function separateParts(text: string, segments: readonly Segment[], code: boolean): Part[] {
  return segments.map((segment) => ({ ...segment, units: unitsIn(text, segment, code) }));
}

const unitsIn = (text: string, { kind, start, end }: Segment, code: boolean): Unit[] =>
  unitsOf(kind, text.slice(start, end), code);

/**
 * The segments with each run of prose and code joined into one part, so that what is cut from it has one notice. Prose
 * that a lossless method changes stays a part of its own.
 */
export function mixedParts(text: string, segments: readonly Segment[], code: boolean): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < segments.length; ) {
    let end = at;
    while (joins(text, segments[end])) end++;
    if (end - at > 1) parts.push(joined(text, segments.slice(at, end), code));
    else parts.push(...separateParts(text, segments.slice(at, (end = at + 1)), code));
    at = end;
  }
  return parts;
}

function joins(text: string, segment: Segment | undefined): boolean {
  if (segment?.kind !== 'prose') return segment?.kind === 'code';
  return collapseLines(text.slice(segment.start, segment.end)) === undefined;
}

/** Prose stands under the last heading before it, even if code stands between. */
function joined(text: string, segments: readonly Segment[], code: boolean): Part {
  const start = segments[0]?.start ?? 0;
  let above: number | undefined;
  const units = segments.flatMap((segment) => {
    const offset = segment.start - start;
    return unitsIn(text, segment, code).map((unit) => {
      const moved = { ...unit, start: unit.start + offset, end: unit.end + offset };
      if (unit.heading) above = moved.start;
      const under = unit.under === undefined ? above : unit.under + offset;
      return unit.heading || unit.fixed || under === undefined ? moved : { ...moved, under };
    });
  });
  return { kind: 'mixed', start, end: segments.at(-1)?.end ?? start, units };
}
