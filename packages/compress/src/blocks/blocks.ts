import { idOf } from '../extract/marks.ts';
import type { Selection } from '../extract/selection.ts';
import type { CountedUnit } from '../extract/units.ts';
import type { LosslessMethod } from '../lossless/lossless.ts';
import type { ChatMessage, MessagePart } from '../messages.ts';
import { textsOf } from '../messages.ts';
import type { CompressOptions } from '../options.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { Kind } from './kind.ts';
import { mixedParts, type Part, wholeParts } from './parts.ts';
import { pastesOf } from './pastes.ts';
import { type Segment, segmentsOf } from './segments.ts';

export type Method = LosslessMethod | 'dedupe' | 'extract' | 'remembered';

/** A method, and the tokens that it saved. */
export interface Step {
  readonly method: Method;
  readonly saved: number;
}

/** A stretch of a message's text, and what was done to it. The blocks of a text, in order, are the whole text. */
export interface Block extends MessagePart {
  readonly kind: Kind;
  readonly original: string;
  readonly text: string;
  /** Steps applied to it, in order; the last step decides how it is undone. */
  readonly steps: readonly Step[];
  /** Number of tokens of `original` in its place; `tokens_after` is that of `text`. */
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Removal, if anything was cut. */
  readonly removed: Removal | null;
}

/** A block that is still being worked on. */
export interface Draft extends MessagePart {
  readonly kind: Kind;
  readonly original: string;
  readonly tokens_before: number;
  text: string;
  tokens_after: number;
  steps: Step[];
  removed: Removal | null;
  units: readonly CountedUnit[];
  /** Whether its code is divided into units. */
  readonly code: boolean;
}

/** Record of what was cut from a block, with the id by which it can be retrieved. */
export interface Removal {
  /** 12 digits derived from the original's SHA-256; the notice in the text contains them. */
  readonly id: string;
  readonly removed: number;
  readonly of: number;
  /** Name of the units: turns, passages, lines, hits or rows. */
  readonly unit: string;
  readonly tokens: number;
  /** Mark in the place of each gap, unless the gap's own mark says what it repeats. The uncut text does not contain it. */
  readonly mark: string;
  /** What was cut, in order: in the sent text each gap is one mark and the line break or blank after it. */
  readonly gaps: readonly Gap[];
  /** Record of the units that were kept, from which a later call makes the same bytes again. */
  readonly selection: Selection;
}

/** A stretch that was cut. */
export interface Gap {
  /** Number of its first unit, counted from 1 in the uncut text. */
  readonly first: number;
  /** Texts of its units, which follow one another. */
  readonly units: readonly string[];
}

/** UTF-16 units from which a user's text counts as material; shorter texts are instructions. */
const MIN_PASTE = 600;

/** The blocks of the texts that may be changed; a user's instructions are not among them. */
export function blocksOf(
  messages: readonly ChatMessage[],
  frozen: (place: MessagePart) => boolean,
  tokenizer: Tokenizer,
  options: Pick<CompressOptions, 'tier' | 'code' | 'remembered'>,
): Draft[] {
  return messages.flatMap((message, index) =>
    textsOf(message, index).flatMap(({ place, text }) =>
      frozen(place) || (message.role === 'user' && text.length < MIN_PASTE)
        ? []
        : blocksOfText(
            place,
            text,
            partsOf(text, message.role === 'user' ? userSegments(text) : segmentsOf(text), index, options),
            tokenizer,
          ),
    ),
  );
}

/** The parts of a text. A part that an earlier call had is divided as it was then, so that it can be sent as it was. */
function partsOf(
  text: string,
  segments: readonly Segment[],
  message: number,
  { tier, code = false, remembered }: Pick<CompressOptions, 'tier' | 'code' | 'remembered'>,
): DividedPart[] {
  if (tier !== 'extractive') return wholeParts(text, segments).map((part) => ({ ...part, code }));
  let others: readonly Part[] | undefined;
  return mixedParts(text, segments, code).map((part, i) => {
    const earlier =
      part.kind === 'code' || part.kind === 'mixed'
        ? remembered?.(idOf(text.slice(part.start, part.end)), message)
        : undefined;
    if (typeof earlier !== 'object' || earlier.code !== !code) return { ...part, code };
    others ??= mixedParts(text, segments, !code);
    return { ...(others[i] ?? part), code: !code };
  });
}

interface DividedPart extends Part {
  readonly code: boolean;
}

/** The segments of a user's text: those of what was pasted, and instructions between them. */
function userSegments(text: string): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  const instructions = (end: number): void => {
    if (end > from) segments.push({ kind: 'instructions', start: from, end });
  };
  for (const { start, end } of pastesOf(text)) {
    instructions(start);
    for (const own of segmentsOf(text.slice(start, end)))
      segments.push({ ...own, start: start + own.start, end: start + own.end });
    from = end;
  }
  instructions(text.length);
  return segments;
}

/** Cuts a text into blocks and counts their tokens once, in the units that cutting needs next. */
function blocksOfText(
  place: MessagePart,
  text: string,
  parts: readonly DividedPart[],
  tokenizer: Tokenizer,
): Draft[] {
  const pieces = parts.map((part) => ({ ...part, original: text.slice(part.start, part.end) }));
  const counts = tokenizer.countSpans(
    text,
    pieces.flatMap(({ start, units }) => units.map(({ end }) => start + end)),
  );
  let next = 0;
  return pieces.map(({ kind, code, original, units }) => {
    const counted = units.map((unit) => ({ ...unit, tokens: counts[next++] ?? 0 }));
    const tokens = counted.reduce((sum, unit) => sum + unit.tokens, 0);
    return {
      ...place,
      kind,
      original,
      text: original,
      tokens_before: tokens,
      tokens_after: tokens,
      steps: [],
      removed: null,
      units: counted,
      code,
    };
  });
}

/** Replaces the text of a block, and records the method and the new number of tokens. */
export function rewrite(block: Draft, text: string, method: Method, tokens: number): void {
  block.steps.push({ method, saved: block.tokens_after - tokens });
  block.text = text;
  block.tokens_after = tokens;
}

/** Gives a block its original text back. */
export function revert(block: Draft): void {
  block.text = block.original;
  block.tokens_after = block.tokens_before;
  block.steps = [];
  block.removed = null;
}
