import type { Removal } from '../blocks/blocks.ts';
import type { Kind } from '../blocks/kind.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { digestOf, gapOf } from './marks.ts';
import { repeatMark, repeatsOf } from './repeats.ts';
import { keptBy, type Selection, selectionOf } from './selection.ts';
import type { CountedUnit, Form } from './units.ts';

/** A block that is to be cut. */
export interface Piece {
  readonly kind: Kind;
  /** Form in which `text` is written. */
  readonly form: Form;
  /** Whether its long units were cut further. */
  readonly finer: boolean;
  /** Name of the block, from its original text. */
  readonly id: string;
  /** Lossless form of the block, which the units divide. */
  readonly text: string;
  readonly units: readonly CountedUnit[];
}

/** Result of cutting a block. */
export interface BlockCut {
  readonly text: string;
  readonly amount: Amount;
  readonly kept: readonly boolean[];
  readonly recoverable: boolean;
}

/** Makes the record of a cut. */
export function removalOf(
  { id, form, finer }: Piece,
  { text, amount, kept, recoverable }: BlockCut,
): Removal {
  return { id, ...amount, selection: selectionOf({ form, finer }, kept, recoverable, digestOf(text)) };
}

/** Names of the units in a notice, by kind. */
const unitNames: Readonly<Partial<Record<Kind, string>>> = {
  dialogue: 'turns',
  prose: 'passages',
  log: 'lines',
  search: 'hits',
  table: 'rows',
  markup: 'elements',
  json: 'rows',
  jsonl: 'rows',
};

const nameOf = ({ kind }: Piece): string => unitNames[kind] ?? 'parts';

/** Cuts a block to the units that are kept, with a mark in each gap. Undefined if that gains nothing. */
export function cutTo(piece: Piece, kept: readonly boolean[], tokenizer: Tokenizer): BlockCut | undefined {
  const { id, text } = piece;
  const gap = gapOf(id, text);
  const amount = amountOf(piece, kept);
  const { removed, of, unit } = amount;
  const notice = `[cut ${id}: ${removed} of ${of} ${unit} left out, at each ${gap}]`;
  return cutWith(piece, kept, tokenizer, { notice, amount, mark: () => gap, recoverable: false });
}

/** Replaces runs of units that repeat earlier ones of the block by marks that say which. Undefined if there are none. */
export function cutRepeats(piece: Piece, tokenizer: Tokenizer): BlockCut | undefined {
  const { id, text, units } = piece;
  const named = new Map<number, string>();
  const kept = units.map(() => true);
  for (const { at, first, length } of repeatsOf(text, units)) {
    const unit = units[first];
    if (unit === undefined) continue;
    const mark = `[${id.slice(0, 3)}: ${repeatMark(text, unit, length, nameOf(piece))}]`;
    const saved = units.slice(at, at + length).reduce((sum, { tokens }) => sum + tokens, 0);
    if (tokenizer.count(mark) + 1 >= saved) continue;
    named.set(at, mark);
    kept.fill(false, at, at + length);
  }
  const amount = amountOf(piece, kept);
  const { removed, of, unit } = amount;
  const notice = `[cut ${id}: ${removed} of ${of} ${unit} left out, which stand in this text before; each place says which]`;
  return cutWith(piece, kept, tokenizer, {
    notice,
    amount,
    mark: (from) => named.get(from) ?? gapOf(id, text),
    recoverable: true,
  });
}

/**
 * Makes the same bytes as in the call that a selection comes from; `'whole'` if nothing was cut, undefined if the
 * selection does not fit.
 */
export function recut(
  piece: Piece,
  selection: Selection,
  tokenizer: Tokenizer,
): BlockCut | 'whole' | undefined {
  const kept = keptBy(selection, piece.form, piece.units.length);
  if (kept === undefined) return undefined;
  if (kept.every(Boolean)) return selection.digest === digestOf(piece.text) ? 'whole' : undefined;
  if (piece.units.some(({ fixed }, i) => fixed && kept[i] !== true)) return undefined;
  const cut = selection.recoverable ? cutRepeats(piece, tokenizer) : cutTo(piece, kept, tokenizer);
  return cut !== undefined && digestOf(cut.text) === selection.digest ? cut : undefined;
}

export function wholeSelection({ form, finer, text, units }: Piece): Selection {
  return selectionOf(
    { form, finer },
    units.map(() => true),
    true,
    digestOf(text),
  );
}

type Amount = Omit<Removal, 'id' | 'selection'>;

function amountOf(piece: Piece, kept: readonly boolean[]): Amount {
  const lost = piece.units.filter((_, i) => kept[i] !== true);
  return {
    removed: lost.length,
    of: piece.units.length,
    unit: nameOf(piece),
    tokens: lost.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

interface Signs {
  readonly notice: string;
  readonly amount: Amount;
  /** Returns the mark for the gap whose first unit has this index. */
  readonly mark: (from: number) => string;
  readonly recoverable: boolean;
}

function cutWith(
  piece: Piece,
  kept: readonly boolean[],
  tokenizer: Tokenizer,
  signs: Signs,
): BlockCut | undefined {
  const { notice, amount, mark, recoverable } = signs;
  const { text: whole, units } = piece;
  if (amount.removed === 0) return undefined;
  const lead = whole.startsWith('\n') ? '\n' : '';
  const text = `${lead}${notice}\n${withMarks(whole, units, kept, mark)}`;
  if (tokenizer.count(text) >= units.reduce((sum, { tokens }) => sum + tokens, 0)) return undefined;
  return { text, kept, recoverable, amount };
}

/** The kept units, unchanged, with a mark in each gap: on its own line between lines, else within the line. */
function withMarks(
  text: string,
  units: readonly CountedUnit[],
  kept: readonly boolean[],
  mark: (from: number) => string,
): string {
  let out = '';
  // Only the tail is kept for reading: to read the end of `out` itself would copy all of it at every gap.
  let tail = '';
  const add = (part: string): void => {
    out += part;
    tail = part.at(-1) ?? tail;
  };
  for (let i = 0; i < units.length; ) {
    const from = i;
    while (i < units.length && kept[i] !== true) i++;
    if (i > from) add(between(tail, mark(from), text.charAt((units[i - 1]?.end ?? 0) - 1)));
    const start = units[i]?.start ?? text.length;
    while (i < units.length && kept[i] === true) i++;
    add(text.slice(start, units[i - 1]?.end ?? text.length));
  }
  return out;
}

/** `before` is the character that stands before the gap, `last` the one that the gap ended with. */
function between(before: string, mark: string, last: string): string {
  const lead = before === '' || /\s/.test(before) ? '' : ' ';
  return `${lead}${mark}${last === '\n' ? '\n' : ' '}`;
}
