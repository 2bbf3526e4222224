import type { Selection } from '../extract/selection.ts';
import { type CountedUnit, unitsOf } from '../extract/units.ts';
import type { LosslessMethod } from '../lossless/lossless.ts';
import type { ChatMessage, MessagePart } from '../messages.ts';
import { textsOf } from '../messages.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { Kind } from './kind.ts';
import { segmentsOf } from './segments.ts';

export type Method = LosslessMethod | 'dedupe' | 'extract' | 'remembered';

/** A method, and the tokens that it saved. */
export interface Step {
  readonly method: Method;
  readonly saved: number;
}

/** A stretch of a message's text, and what became of it. The blocks of a text in order make up the text. */
export interface Block extends MessagePart {
  readonly kind: Kind;
  readonly original: string;
  readonly text: string;
  /** Steps applied to it, in order; the last step decides how it is undone. */
  readonly steps: readonly Step[];
  /** Tokens of `original` where it stands, and of `text`. */
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Removal, if anything was cut. */
  readonly removed: Removal | null;
}

/** A block while it is worked on. */
export interface Draft extends MessagePart {
  readonly kind: Kind;
  readonly original: string;
  readonly tokens_before: number;
  text: string;
  tokens_after: number;
  steps: Step[];
  removed: Removal | null;
  units: readonly CountedUnit[];
}

/** Names what was cut, so that it can be given back. */
export interface Removal {
  /** 12 digits made of the original's SHA-256; the notice in the text holds them. */
  readonly id: string;
  readonly removed: number;
  readonly of: number;
  /** Name of the units: turns, passages, lines, hits or rows. */
  readonly unit: string;
  readonly tokens: number;
  /** Selection from which the same bytes are made again in a later call. */
  readonly selection: Selection;
}

/** Users' texts are instructions until they are long enough to be material, in UTF-16 units. */
const MIN_PASTE = 600;

/** The blocks of the texts that may be touched; a user's own words are none. */
export function blocksOf(
  messages: readonly ChatMessage[],
  frozen: (place: MessagePart) => boolean,
  tokenizer: Tokenizer,
): Draft[] {
  return messages.flatMap((message, index) =>
    textsOf(message, index).flatMap(({ place, text }) =>
      frozen(place) || (message.role === 'user' && text.length < MIN_PASTE)
        ? []
        : blocksOfText(place, text, tokenizer),
    ),
  );
}

/** Counted in one go, in the units that cutting would ask for next. */
function blocksOfText(place: MessagePart, text: string, tokenizer: Tokenizer): Draft[] {
  const pieces = segmentsOf(text).map(({ kind, start, end }) => {
    const original = text.slice(start, end);
    return { kind, start, original, units: unitsOf(kind, original) };
  });
  const counts = tokenizer.countSpans(
    text,
    pieces.flatMap(({ start, units }) => units.map(({ end }) => start + end)),
  );
  let next = 0;
  return pieces.map(({ kind, original, units }) => {
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
    };
  });
}

/** Puts another text in the place of a block's. */
export function rewrite(block: Draft, text: string, method: Method, tokens: number): void {
  block.steps.push({ method, saved: block.tokens_after - tokens });
  block.text = text;
  block.tokens_after = tokens;
}

/** Leaves a block as it was. */
export function revert(block: Draft): void {
  block.text = block.original;
  block.tokens_after = block.tokens_before;
  block.steps = [];
  block.removed = null;
}
