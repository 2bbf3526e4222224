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
  /** What the policy says; null where it says nothing. */
  readonly value: TermValue | null;
  /** Null for a standard without a measure. */
  readonly require: Requirement | null;
  /** Of the number in `require`; null where it is none. */
  readonly unit: string | null;
  readonly says: string;
  /** Under which condition; null where it always holds. */
  readonly when: string | null;
  readonly applies_from: string | null;
  readonly citation: CitationLine;
};

/** What a person must decide, and why no machine can. */
export type Decision = {
  readonly reason: 'standard' | 'unstated' | 'voluntary' | 'condition' | 'choice' | 'question' | 'unchecked';
  /** Null where it is about the concept as a whole. */
  readonly term: string | null;
  readonly question: string;
  readonly citation: CitationLine | null;
};

/** How one concept of the policy fares in the target. */
export type ConceptLine = {
  readonly concept: Concept;
  /** The first that holds: the target is the source; something is stricter; nothing corresponds; a person must decide; it maps. */
  readonly outcome: 'same' | 'stricter' | 'no_equivalent' | 'decide' | 'maps';
  readonly equivalent: Entry['equivalent'];
  readonly summary: string;
  readonly from: readonly CitationLine[];
  readonly to: readonly CitationLine[];
  readonly maps: readonly TermLine[];
  readonly stricter: readonly TermLine[];
  /** Terms that the law of the target says nothing of, as far as the crosswalk goes. */
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
  /** The policy as it would read there: values that something stricter asks for, moved; those left to a person, left out. */
  readonly policy: readonly PolicyStatement[];
  readonly concepts: readonly ConceptLine[];
  /** Concepts that the crosswalk has rules for there, and that the policy says nothing of. */
  readonly unstated: readonly Concept[];
};

/** What `normalize` gives. */
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
  /** What was understood of the policy, in the order of the concepts. */
  readonly policy: readonly PolicyStatement[];
  readonly unknown: readonly Unknown[];
  readonly targets: readonly Target[];
};
