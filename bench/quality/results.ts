import { readFileSync } from 'node:fs';
import { tokenizerFor } from '@tallystick/compress';
import { measureMaterial } from '../material/measure.ts';
import { corpus } from './corpus.ts';
import { BUDGETS, type Document, TEMPORAL } from './document.ts';
import { type CutTier, grade, type Outcome, TIERS } from './grade.ts';
import { losslessOutcome, losslessRows, saved } from './lossless.ts';
import { peers } from './peers.ts';
import { type Measured, printOf } from './print-of.ts';
import { corpusDigest, type Wording } from './sources.ts';
import { interval, mean } from './statistics.ts';

/** Results of one tier at one budget. Shares are between 0 and 1; tokens are summed over all runs. */
export interface Row {
  readonly tier: CutTier;
  readonly budget: number;
  readonly documents: number;
  readonly cases: number;
  readonly kept: number;
  readonly kept_ci95: readonly [number, number];
  readonly facts_kept: number;
  /** Of the facts that are kept, the share whose date is kept too; only for questions about time. */
  readonly dated?: number;
  readonly over_budget: number;
  readonly tokens_before: number;
  readonly tokens_after: number;
  readonly saved_median: number;
  readonly saved_worst: number;
  readonly saved_best: number;
}

interface Paired {
  readonly a: 'extractive';
  readonly b: 'bm25';
  readonly budget: number;
  readonly cases: number;
  /** Number of cases that only tier `a` keeps. */
  readonly a_only: number;
  readonly b_only: number;
  readonly difference: number;
  readonly ci95: readonly [number, number];
}

interface WorstCase {
  readonly id: string;
  readonly document: string;
  readonly kind: string;
  /** Largest budget at which it is lost. */
  readonly budget: number;
  readonly question: string;
  readonly missing: readonly string[];
  readonly over_budget: boolean;
  readonly bm25_kept: boolean;
}

interface Node {
  readonly about: string;
  readonly tiers: readonly Row[];
  readonly by: readonly ({ readonly kind: string } & Row)[];
  readonly paired: readonly Paired[];
  readonly paired_by: readonly ({ readonly kind: string } & Paired)[];
  /** By the wording of the question: paraphrased or plain. */
  readonly by_wording: readonly ({ readonly kind: Wording } & Row)[];
  readonly paired_by_wording: readonly ({ readonly kind: Wording } & Paired)[];
  readonly worst_cases: readonly WorstCase[];
}

/** The contents that the service signs and serves, without the members about signer and time. */
export type Results = ReturnType<typeof measure>;

const VERSION = 1;
const COMMAND = 'npm run benchmark';

const about = {
  semantic:
    'Facts and answers kept: the strings that a question needs, word for word, in what the model would get.',
  temporal:
    'Facts kept across turns and dates: the newest value of something that changed, an older one, when something happened, in what order.',
  modality:
    'All questions by what the material is, and what the lossless tier saves of each, decoded again and compared.',
};

/** Runs the benchmark. @param progress called with the number of documents that are done, and of all of one corpus */
export function measure(progress: (done: number, of: number) => void = () => {}) {
  const documents = corpus();
  const measured: Measured[] = [];
  for (const document of documents) {
    measured.push(measureOne(document));
    progress(measured.length, documents.length);
  }
  const { material, files } = measureMaterial(progress);
  const outcomes = measured.flatMap((one) => one.outcomes);
  const lossless = measured.map((one) => one.lossless);
  const temporal = outcomes.filter(({ question }) => TEMPORAL.has(question.kind));
  const semantic = outcomes.filter(({ question }) => !TEMPORAL.has(question.kind));
  return {
    version: VERSION,
    corpus: {
      sha256: corpusDigest(),
      documents: documents.length,
      cases: documents.reduce((sum, { cases }) => sum + cases.length, 0),
      tokens: lossless.reduce((sum, { before }) => sum + before, 0),
    },
    command: COMMAND,
    generated_with: {
      package: '@tallystick/compress',
      version: packageVersion(),
      tokenizer: tokenizerFor().name,
    },
    nodes: {
      semantic: nodeOf(about.semantic, semantic, ({ question }) => question.kind),
      temporal: nodeOf(about.temporal, temporal, ({ question }) => question.kind),
      modality: {
        ...nodeOf(about.modality, outcomes, ({ document }) => document.modality),
        lossless: losslessRows(lossless),
        material,
      },
    },
    peers,
    documents: measured.map(printOf),
    files,
  };
}

/** Runs one document in every tier. */
export function measureOne(document: Document): Measured {
  const tokenizer = tokenizerFor();
  return { document, outcomes: grade(document, tokenizer), lossless: losslessOutcome(document, tokenizer) };
}

function packageVersion(): string {
  const file = new URL('../../packages/compress/package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function nodeOf(text: string, outcomes: readonly Outcome[], kindOf: (outcome: Outcome) => string): Node {
  const kinds = [...Map.groupBy(outcomes, kindOf)];
  const wordings = [...Map.groupBy(outcomes, ({ question }) => question.wording)];
  return {
    about: text,
    tiers: rowsOf(outcomes),
    by: kinds.flatMap(([kind, own]) => rowsOf(own).map((row) => ({ kind, ...row }))),
    paired: pairedOf(outcomes),
    paired_by: kinds.flatMap(([kind, own]) => pairedOf(own).map((paired) => ({ kind, ...paired }))),
    by_wording: wordings.flatMap(([kind, own]) => rowsOf(own).map((row) => ({ kind, ...row }))),
    paired_by_wording: wordings.flatMap(([kind, own]) =>
      pairedOf(own).map((paired) => ({ kind, ...paired })),
    ),
    worst_cases: worstOf(outcomes, kindOf),
  };
}

function rowsOf(outcomes: readonly Outcome[]): Row[] {
  return TIERS.flatMap((tier) =>
    BUDGETS.flatMap((budget) => {
      const own = outcomes.filter((one) => one.tier === tier && one.budget === budget);
      return own.length === 0 ? [] : [rowOf(tier, budget, own)];
    }),
  );
}

function rowOf(tier: CutTier, budget: number, own: readonly Outcome[]): Row {
  const kept = own.map(({ question, kept: value }) => ({ cluster: question.source, value }));
  const dated = own.flatMap(({ question, dated: value }) =>
    value === null ? [] : [{ cluster: question.source, value }],
  );
  return {
    tier,
    budget,
    documents: new Set(own.map(({ document }) => document.id)).size,
    cases: own.length,
    kept: mean(kept),
    kept_ci95: interval(kept, 'kept'),
    facts_kept: mean(own.map(({ question, facts: value }) => ({ cluster: question.source, value }))),
    ...(dated.length > 0 && { dated: mean(dated) }),
    over_budget: own.filter(({ over }) => over).length,
    ...saved(own),
  };
}

const keyOf = ({ question, budget }: Outcome): string => `${question.id} ${budget}`;

/** Compares the extractive tier with the baseline in the package, question by question. */
function pairedOf(outcomes: readonly Outcome[]): Paired[] {
  const baseline = new Map(
    outcomes.filter(({ tier }) => tier === 'bm25').map((one) => [keyOf(one), one.kept]),
  );
  return BUDGETS.flatMap((budget) => {
    const own = outcomes.filter((one) => one.tier === 'extractive' && one.budget === budget);
    if (own.length === 0) return [];
    const differences = own.map((one) => ({
      cluster: one.question.source,
      value: one.kept - (baseline.get(keyOf(one)) ?? 0),
    }));
    return [
      {
        a: 'extractive' as const,
        b: 'bm25' as const,
        budget,
        cases: own.length,
        a_only: differences.filter(({ value }) => value > 0).length,
        b_only: differences.filter(({ value }) => value < 0).length,
        difference: mean(differences),
        ci95: interval(differences, 'paired'),
      },
    ];
  });
}

const WORST = 12;

/** Cases that the extractive tier loses at the largest budgets: one of each document before a second of any. */
function worstOf(outcomes: readonly Outcome[], kindOf: (outcome: Outcome) => string): WorstCase[] {
  const baseline = new Map(
    outcomes.filter(({ tier }) => tier === 'bm25').map((one) => [keyOf(one), one.kept]),
  );
  const lost = outcomes.filter(({ tier, kept }) => tier === 'extractive' && kept < 1);
  const first = [...Map.groupBy(lost, ({ question }) => question.id).values()].map((own) =>
    own.reduce((worst, one) => (one.budget > worst.budget ? one : worst)),
  );
  const turn = new Map<string, number>();
  const turns = first
    .toSorted((a, b) => b.budget - a.budget)
    .map((one) => {
      const at = turn.get(one.document.id) ?? 0;
      turn.set(one.document.id, at + 1);
      return { one, at };
    });
  return turns
    .toSorted((a, b) => b.one.budget - a.one.budget || a.at - b.at)
    .slice(0, WORST)
    .map(({ one }) => ({
      id: one.question.id,
      document: one.document.id,
      kind: kindOf(one),
      budget: one.budget,
      question: one.question.question,
      missing: one.missing,
      over_budget: one.over,
      bm25_kept: baseline.get(keyOf(one)) === 1,
    }));
}
