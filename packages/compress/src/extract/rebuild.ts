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
  /** Whether its code was divided into units. */
  readonly code: boolean;
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
  /** Gaps, in order. */
  readonly gaps: readonly UnitRange[];
  readonly recoverable: boolean;
}

/** Indexes of the first unit and of the one after the last. */
interface UnitRange {
  readonly from: number;
  readonly to: number;
}

/** Makes the record of a cut. */
export function removalOf(
  { id, form, finer, code, text: whole, units }: Piece,
  { text, amount, kept, gaps, recoverable }: BlockCut,
): Removal {
  return {
    id,
    ...amount,
    mark: gapOf(id, whole),
    gaps: gaps.map(({ from, to }) => ({
      first: from + 1,
      units: units.slice(from, to).map(({ start, end }) => whole.slice(start, end)),
    })),
    selection: selectionOf({ form, finer, code }, kept, recoverable, digestOf(text)),
  };
}

/** Names of the units in a notice, by kind. */
const unitNames: Readonly<Partial<Record<Kind, string>>> = {
  dialogue: 'turns',
  prose: 'passages',
  mixed: 'passages',
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
  const notice = `[cut ${id}: ${removed} of ${of} ${unit} left out, at each ${gap}${functionsCut(piece, kept)}]`;
  return cutWith(piece, kept, tokenizer, { notice, amount, gap, recoverable: false });
}

/** Most functions that a notice names. */
const MAX_NAMED = 24;

/** The names of the functions that were cut, for a notice. */
function functionsCut({ units }: Piece, kept: readonly boolean[]): string {
  const names = [
    ...new Set(units.flatMap(({ code = '' }, i) => (code === '' || kept[i] === true ? [] : code))),
  ];
  if (names.length === 0) return '';
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : '';
  return `; without ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
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
    gap: gapOf(id, text),
    named,
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

export function wholeSelection({ form, finer, code, text, units }: Piece): Selection {
  return selectionOf(
    { form, finer, code },
    units.map(() => true),
    true,
    digestOf(text),
  );
}

type Amount = Pick<Removal, 'removed' | 'of' | 'unit' | 'tokens'>;

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
  /** Mark of a gap that has none of its own. */
  readonly gap: string;
  /** Marks of gaps by the index of their first unit; two such gaps may adjoin. */
  readonly named?: ReadonlyMap<number, string>;
  readonly recoverable: boolean;
}

function cutWith(
  piece: Piece,
  kept: readonly boolean[],
  tokenizer: Tokenizer,
  signs: Signs,
): BlockCut | undefined {
  const { notice, amount, gap, named, recoverable } = signs;
  const { text: whole, units } = piece;
  if (amount.removed === 0) return undefined;
  const lead = whole.startsWith('\n') ? '\n' : '';
  const gaps = gapsOf(kept, (i) => named?.has(i) === true);
  const text = `${lead}${notice}\n${withMarks(piece, gaps, (from) => named?.get(from) ?? gap)}`;
  if (tokenizer.count(text) >= units.reduce((sum, { tokens }) => sum + tokens, 0)) return undefined;
  return { text, kept, gaps, recoverable, amount };
}

/** The runs of units that are not kept; one also ends where another begins. */
function gapsOf(kept: readonly boolean[], begins: (unit: number) => boolean): UnitRange[] {
  const gaps: UnitRange[] = [];
  for (let i = 0; i < kept.length; ) {
    const from = i++;
    if (kept[from] === true) continue;
    while (i < kept.length && kept[i] !== true && !begins(i)) i++;
    gaps.push({ from, to: i });
  }
  return gaps;
}

/**
 * The kept units, unchanged, with a mark in each gap, followed by the line break that the gap ended with, else by a blank.
 */
function withMarks(
  { text, units }: Piece,
  gaps: readonly UnitRange[],
  mark: (from: number) => string,
): string {
  const endOf = (unit: number): number => units[unit]?.end ?? 0;
  let out = '';
  let done = 0;
  for (const { from, to } of gaps) {
    const end = endOf(to - 1);
    out += `${text.slice(done, units[from]?.start)}${mark(from)}${text.charAt(end - 1) === '\n' ? '\n' : ' '}`;
    done = end;
  }
  return out + text.slice(done);
}
