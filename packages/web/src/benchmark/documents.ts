/** Types of the documents in which the service reports on its compression: see spec/benchmark.md. Shares are between 0 and 1. */

export const NODES = ['semantic', 'temporal', 'modality'] as const;
export type NodeName = (typeof NODES)[number];

type Interval = readonly [low: number, high: number];

export interface TierResult {
  readonly tier: string;
  /** Share of the tokens that the result was allowed to have. */
  readonly budget: number;
  readonly cases: number;
  /** Share of the cases of which every fact survived within the budget. */
  readonly kept: number;
  readonly kept_ci95: Interval;
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Number of cases whose result exceeded the budget; they count as lost. */
  readonly over_budget: number;
}

/** Comparison of two tiers on the same cases. */
export interface Paired {
  readonly a: string;
  readonly b: string;
  readonly budget: number;
  readonly cases: number;
  readonly difference: number;
  readonly ci95: Interval;
  readonly a_only: number;
  readonly b_only: number;
}

/** Tokens that the lossless tier saved on one kind of text. */
export interface Lossless {
  readonly kind: string;
  readonly documents: number;
  readonly decoded_equal: number;
  readonly saved_median: number;
  readonly saved_worst: number;
  readonly saved_best: number;
}

export interface NodeSummary {
  readonly about: string;
  readonly tiers: readonly TierResult[];
  readonly paired: readonly Paired[];
  readonly lossless?: readonly Lossless[];
}

interface WorstCase {
  readonly id: string;
  readonly document: string;
  readonly kind: string;
  readonly budget: number;
  readonly question: string;
  readonly missing: readonly string[];
  readonly bm25_kept: boolean;
}

interface Peer {
  readonly name: string;
  readonly source: string;
  readonly note: string;
  readonly says: readonly string[];
}

/** Members, common to all documents, that say how they were made. */
export interface Origin {
  readonly corpus: {
    readonly sha256: string;
    readonly documents: number;
    readonly cases: number;
    readonly tokens: number;
  };
  readonly command: string;
  readonly generated_with: { readonly package: string; readonly version: string; readonly tokenizer: string };
}

export interface Summary extends Origin {
  readonly nodes: Readonly<Record<NodeName, NodeSummary>>;
  readonly peers: readonly Peer[];
}

export interface KindResult extends TierResult {
  readonly kind: string;
}

/** Results of a group of questions on material that others wrote; lists are in the order of the budgets. */
export interface MaterialRow {
  readonly kind: string;
  readonly sources: number;
  readonly cases: number;
  readonly tiers: readonly {
    readonly tier: string;
    readonly kept: readonly number[];
    readonly kept_ci95: readonly Interval[];
  }[];
  /** Extractive minus BM25 over lines, question by question; empty if there is nothing to compare. */
  readonly minus_lines: readonly number[];
  readonly minus_lines_ci95: readonly Interval[];
}

export interface MaterialPart {
  readonly sha256: string;
  readonly files: number;
  readonly sources: number;
  readonly questions: number;
  readonly all: MaterialRow;
  /** By kind of material, those that lose most first. */
  readonly by: readonly MaterialRow[];
  readonly survive: readonly MaterialRow[];
}

export interface Material {
  readonly about: string;
  readonly budgets: readonly number[];
  readonly held_out: MaterialPart;
  readonly development: MaterialPart;
  readonly worst_cases: readonly LostCase[];
}

/** A question whose answer the extractive tier lost. */
export interface LostCase {
  readonly id: string;
  readonly kind: string;
  readonly budget: number;
  readonly question: string;
  readonly missing: readonly string[];
  readonly lines_kept: boolean;
}

export interface NodeDocument extends Origin, NodeSummary {
  readonly by: readonly KindResult[];
  /** The results by how the questions are worded. */
  readonly by_wording: readonly KindResult[];
  readonly worst_cases: readonly WorstCase[];
  /** Only of `modality`. */
  readonly material?: Material;
}
