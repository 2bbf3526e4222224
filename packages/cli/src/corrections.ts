import { type CorrectionVerdict, correctionText, type JsonValue, verifyCorrections } from '@tallystick/core';
import { leadingTrust } from './evaluate.ts';
import { paint, print } from './output.ts';
import { printable } from './printable.ts';
import type { TrustSource } from './trust-sources.ts';

interface Basis {
  readonly options: { readonly json?: boolean; readonly quiet?: boolean };
  readonly trust: { readonly sources: readonly TrustSource[] };
  /** Unix milliseconds. */
  readonly now: number;
}

/** Prints which of the receipts correct which. Returns whether nothing contradicts any of these corrections. */
export async function printCorrections(
  receipts: readonly JsonValue[],
  { options, trust: { sources }, now }: Basis,
): Promise<boolean> {
  const found = await verifyCorrections(receipts, { now, trust: leadingTrust(sources, now).trust });
  for (const correction of found) {
    if (options.quiet && correction.valid) continue;
    print(options.json ? JSON.stringify({ correction }) : correctionLine(correction));
  }
  return found.every(({ valid }) => valid);
}

/** One line that says what follows from a correction. */
export function correctionLine(correction: CorrectionVerdict): string {
  const mark = correction.valid ? '→' : paint('red', '✗');
  return `${mark} ${printable(correctionText(correction))}`;
}
