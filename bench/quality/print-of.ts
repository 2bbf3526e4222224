import type { Document } from './document.ts';
import type { Outcome } from './grade.ts';
import type { LosslessOutcome } from './lossless.ts';
import { sha256 } from './sources.ts';

/** The results of one document. */
export interface Measured {
  readonly document: Document;
  readonly outcomes: readonly Outcome[];
  readonly lossless: LosslessOutcome;
}

/** A digest of a document’s results, with which a run of it alone can be compared. */
export interface DocumentPrint {
  readonly id: string;
  readonly cases: number;
  readonly tokens: number;
  /** SHA-256 over the results of every question in every tier at every budget, and of the lossless tier. */
  readonly sha256: string;
}

export function printOf({ document, outcomes, lossless: { before, after } }: Measured): DocumentPrint {
  const lines = outcomes.map(({ question, tier, budget, kept, facts, dated, after: left, missing }) =>
    JSON.stringify([question.id, tier, budget, kept, facts, dated, left, missing]),
  );
  return {
    id: document.id,
    cases: document.cases.length,
    tokens: before,
    sha256: sha256([...lines, String(after)].join('\n')),
  };
}
