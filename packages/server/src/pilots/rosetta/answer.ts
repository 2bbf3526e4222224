import type { Concept, TermValue } from './concepts.ts';
import type { Entry } from './crosswalk-schema.ts';
import type { Unknown } from './read-policy.ts';
import type { Requirement } from './requirement.ts';

/** A citation as an answer carries it; `label` is all of it as one text. */
export type CitationLine = {
  readonly label: string;
  readonly instrument: string;
  readonly title: string;
  readonly article: string;
  readonly section: string | null;
  readonly year: number;
  readonly force: 'binding' | 'voluntary';
};

/** A term beside a rule of the target. */
export type TermLine = {
  readonly term: string;
  /** What the policy states; null where it states nothing. */
  readonly value: TermValue | null;
  /** Null for a standard without a measure. */
  readonly require: Requirement | null;
  /** Unit of the number in `require`; null where there is none. */
  readonly unit: string | null;
  readonly says: string;
  /** Condition under which the rule applies; null where it always does. */
  readonly when: string | null;
  readonly applies_from: string | null;
  readonly citation: CitationLine;
};

/** What a person must decide, and why no machine can. */
export type Decision = {
  readonly reason: 'standard' | 'unstated' | 'voluntary' | 'condition' | 'choice' | 'question' | 'unchecked';
  /** Null if it concerns the whole concept. */
  readonly term: string | null;
  readonly question: string;
  readonly citation: CitationLine | null;
};

/** The result for one concept of the policy in the target jurisdiction. */
export type ConceptLine = {
  readonly concept: Concept;
  /**
   * The first of these that applies: the target is the source; a rule is stricter; nothing corresponds; a person must
   * decide; it maps.
   */
  readonly outcome: 'same' | 'stricter' | 'no_equivalent' | 'decide' | 'maps';
  readonly equivalent: Entry['equivalent'];
  readonly summary: string;
  readonly from: readonly CitationLine[];
  readonly to: readonly CitationLine[];
  readonly maps: readonly TermLine[];
  readonly stricter: readonly TermLine[];
  /** Terms on which the target's law has no rule in the crosswalk. */
  readonly no_equivalent: readonly string[];
  readonly decide: readonly Decision[];
  readonly confidence: Entry['confidence'];
  readonly note: string | null;
  readonly as_of: string;
  readonly checked: Entry['checked'];
};

export type PolicyStatement = { readonly concept: Concept } & { readonly [term: string]: TermValue };

export type Target = {
  readonly jurisdiction: string;
  readonly name: string;
  /**
   * The policy expressed for the target: values are moved to what stricter rules ask for; values that a person must
   * decide are left out.
   */
  readonly policy: readonly PolicyStatement[];
  readonly concepts: readonly ConceptLine[];
  /** Concepts with rules in the crosswalk for the target that the policy does not mention. */
  readonly unstated: readonly Concept[];
};

/** The result of `normalize`. */
export type Normalized = {
  readonly type: 'svc-rosetta-v1';
  readonly notice: string;
  readonly jurisdiction: string;
  readonly crosswalk: {
    readonly version: string;
    readonly digest: string;
    readonly as_of: string;
    readonly entries: number;
    readonly checked_by_person: number;
  };
  /** The understood statements of the policy, in the order of the concepts. */
  readonly policy: readonly PolicyStatement[];
  readonly unknown: readonly Unknown[];
  readonly targets: readonly Target[];
};
