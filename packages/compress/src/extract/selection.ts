import type { Form } from './units.ts';

/** Version of selections. Raised whenever the same units would be written differently, or a text is cut into other units. */
const VERSION = 7;

/**
 * The units of a block that were kept: everything needed to write the same bytes again from the block's
 * original. It is plain JSON, contains no text, and is checked when a later call gets it.
 */
export interface Selection {
  readonly version: number;
  /** Form in which the block was written when it was cut. */
  readonly form: string;
  /** Whether the block's long units were cut further, because the budget had no place for them. */
  readonly finer: boolean;
  /** Whether code was divided into units. */
  readonly code: boolean;
  /** Whether everything that was left out also stands elsewhere in the block. */
  readonly recoverable: boolean;
  /** Lengths of the runs of kept and omitted units, in turn, beginning with kept. One number if all were kept. */
  readonly runs: readonly number[];
  /** Digest of the resulting text: 16 hex characters of its SHA-256. */
  readonly digest: string;
}

/** A selection with the id of its block. */
export interface RememberedSelection {
  readonly id: string;
  readonly selection: Selection;
}

export function selectionOf(
  { form, finer, code }: { readonly form: Form; readonly finer: boolean; readonly code: boolean },
  kept: readonly boolean[],
  recoverable: boolean,
  digest: string,
): Selection {
  const runs: number[] = [];
  for (let at = 0, keeps = true; at < kept.length; keeps = !keeps) {
    const from = at;
    while (at < kept.length && kept[at] === keeps) at++;
    runs.push(at - from);
  }
  return { version: VERSION, form, finer, code, recoverable, runs, digest };
}

/** Which of `units` units a selection keeps; undefined if it is of another version, form or number of units. */
export function keptBy(selection: Selection, form: Form, units: number): boolean[] | undefined {
  const { version, form: written, runs } = selection;
  if (version !== VERSION || written !== form || !Array.isArray(runs) || runs.length > units + 1)
    return undefined;
  const kept: boolean[] = [];
  for (const [i, run] of (runs as readonly unknown[]).entries()) {
    const fits = typeof run === 'number' && Number.isInteger(run) && run >= 0 && run <= units - kept.length;
    if (!fits) return undefined;
    for (let n = 0; n < run; n++) kept.push(i % 2 === 0);
  }
  return kept.length === units ? kept : undefined;
}
