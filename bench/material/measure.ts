import { tokenizerFor } from '@tallystick/compress';
import { stemmers } from '../../packages/compress/src/extract/language.ts';
import { BUDGETS } from '../quality/document.ts';
import { type CutTier, grade } from '../quality/grade.ts';
import { losslessOutcome, losslessRows } from '../quality/lossless.ts';
import { type Measured, printOf } from '../quality/print-of.ts';
import { filesOf, type MaterialFile, type Part, partDigest } from './files.ts';
import { instructionsKept } from './instructions.ts';
import { languageOf } from './language.ts';
import { lostOf } from './lost.ts';
import { documentOf } from './questions.ts';
import { rowOf, rowsOf } from './rows.ts';
import { survivors } from './survivors.ts';

/** The package's tier that cuts, the same with plain BM25, BM25 over lines as anyone would write it, and two ways to cut blindly. German, French and Spanish have BM25 over stems too. */
const TIERS: readonly CutTier[] = ['extractive', 'bm25', 'lines', 'tail', 'random'];

const ABOUT =
  'Material that others wrote, in excerpts from packages and system documentation, with questions made by rule. The held-out part is read by nobody who works on the engine.';

/** Runs every question of a file in every tier, and the lossless tier. */
export function measureFile(file: MaterialFile): Measured {
  const document = documentOf(file);
  const tokenizer = tokenizerFor();
  const { code } = languageOf(file.kind);
  const stem = code in stemmers ? stemmers[code as keyof typeof stemmers] : undefined;
  return {
    document,
    outcomes: grade(document, tokenizer, stem === undefined ? TIERS : [...TIERS, 'stems'], stem),
    lossless: losslessOutcome(document, tokenizer),
  };
}

/** The results of a part: rows by kind of material, the worst first, by rule, what must survive, and what the lossless tier saves. */
export function measurePart(part: Part, progress: (done: number, of: number) => void = () => {}) {
  const files = filesOf(part);
  const measured = files.map((file, i) => {
    const one = measureFile(file);
    progress(i + 1, files.length);
    return one;
  });
  const outcomes = measured.flatMap((one) => one.outcomes);
  const lossless = measured.map((one) => one.lossless);
  const rows = {
    sha256: partDigest(part),
    files: files.length,
    sources: new Set(files.map(({ source }) => source)).size,
    questions: measured.reduce((sum, { document }) => sum + document.cases.length, 0),
    tokens: lossless.reduce((sum, { before }) => sum + before, 0),
    all: rowOf('all', outcomes),
    by: rowsOf(outcomes, ({ document }) => document.modality),
    by_rule: rowsOf(outcomes, ({ question }) => question.kind),
    survive: [...instructionsKept(files), ...survivors(outcomes)],
    lossless: losslessRows(lossless),
  };
  return { rows, worst: lostOf(outcomes), prints: measured.map(printOf) };
}

/** The results of both parts. What is lost of the held-out part is not listed, so that nobody tunes on it. */
export function measureMaterial(progress?: (done: number, of: number) => void) {
  const heldOut = measurePart('held-out', progress);
  const development = measurePart('development', progress);
  return {
    material: {
      about: ABOUT,
      budgets: BUDGETS,
      held_out: heldOut.rows,
      development: development.rows,
      worst_cases: development.worst,
    },
    files: [...heldOut.prints, ...development.prints],
  };
}
