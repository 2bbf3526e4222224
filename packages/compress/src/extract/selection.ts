import type { Form } from './units.ts';

/** Raised whenever the same units would be written otherwise, or the same text has other units. */
const VERSION = 1;

/**
 * Which units of a block were kept: all that has to be remembered to write the same bytes again from the block's
 * original. It is plain JSON, holds no text, and is checked when it comes back.
 */
export interface Selection {
  readonly version: number;
  /** Form in which the block was written when it was cut. */
  readonly form: string;
  /** Whether all that was left out stands elsewhere in the block. */
  readonly recoverable: boolean;
  /** How many units were kept, then left out, then kept, and so on. Where all were kept, one number. */
  readonly runs: readonly number[];
  /** Digest of the resulting text: 16 hex characters of its SHA-256. */
  readonly digest: string;
}

/** A selection with the name of its block. */
export interface RememberedSelection {
  readonly id: string;
  readonly selection: Selection;
}

export function selectionOf(
  form: Form,
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
  return { version: VERSION, form, recoverable, runs, digest };
}

/** What a selection keeps of `units` units, or undefined where it is of another version, form or number of units. */
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
