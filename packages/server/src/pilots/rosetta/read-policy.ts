import { TallyError } from '@tallystick/core';
import { suggest } from '@tallystick/kit';
import {
  CONCEPT_NAMES,
  type Concept,
  expectation,
  holds,
  isConcept,
  type TermValue,
  termsOf,
} from './concepts.ts';

/** A policy's statement on one concept, as it was given. */
export interface Stated {
  readonly concept: string;
  readonly [term: string]: unknown;
}

/** A policy's statement on one concept, with its known terms. */
export interface Statement {
  readonly concept: Concept;
  /** In the order of the concept's terms. */
  readonly terms: ReadonlyMap<string, TermValue>;
}

/** A part of a policy that is not understood, and so not translated. */
export type Unknown = {
  readonly concept: string;
  /** Null where the concept itself is not known. */
  readonly term: string | null;
  readonly reason: 'unknown_concept' | 'unknown_term' | 'unknown_value';
  /** What would be understood there. */
  readonly expected: string;
  readonly did_you_mean: string | null;
};

export interface Policy {
  /** In the order of the concepts, whatever the order in the policy. */
  readonly statements: readonly Statement[];
  readonly unknown: readonly Unknown[];
}

/**
 * Reads a policy: a list of objects with a `concept` and terms. A concept, term or value that is not known is
 * reported, never guessed.
 * @throws conflicting_fields where a concept is stated twice
 */
export function readPolicy(policy: readonly Stated[]): Policy {
  const statements = new Map<string, Statement>();
  const unknown = new Map<string, Unknown>();
  const seen = new Set<string>();
  for (const [index, stated] of policy.entries()) {
    const { concept } = stated;
    if (seen.has(concept)) {
      throw new TallyError(
        'conflicting_fields',
        `policy states ${concept} twice: state each concept only once.`,
        {
          field: `policy[${index}].concept`,
        },
      );
    }
    seen.add(concept);
    const read = isConcept(concept) ? readStatement(concept, stated) : unknownConcept(concept);
    if (read.statement !== null) statements.set(concept, read.statement);
    for (const one of read.unknown) unknown.set(`${one.concept} ${one.term}`, one);
  }
  return {
    statements: CONCEPT_NAMES.flatMap((concept) => statements.get(concept) ?? []),
    unknown: [...unknown].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
  };
}

interface Read {
  readonly statement: Statement | null;
  readonly unknown: readonly Unknown[];
}

function unknownConcept(concept: string): Read {
  return {
    statement: null,
    unknown: [report('unknown_concept', concept, null, CONCEPT_NAMES, concept)],
  };
}

function readStatement(concept: Concept, stated: Stated): Read {
  const known = termsOf(concept);
  const given = Object.entries(stated).filter(([name]) => name !== 'concept');
  const understood = new Map<string, TermValue>();
  const unknown: Unknown[] = [];
  for (const [name, value] of given) {
    const term = known.get(name);
    if (term === undefined) unknown.push(report('unknown_term', concept, name, [...known.keys()], name));
    else if (holds(term, value)) understood.set(name, value);
    else {
      const values = 'values' in term ? term.values : [];
      unknown.push({
        ...report('unknown_value', concept, name, values, value),
        expected: expectation(term),
      });
    }
  }
  const terms = new Map([...known.keys()].flatMap((name) => pair(name, understood.get(name))));
  return { statement: { concept, terms }, unknown };
}

function pair(name: string, value: TermValue | undefined): [string, TermValue][] {
  return value === undefined ? [] : [[name, value]];
}

function report(
  reason: Unknown['reason'],
  concept: string,
  term: string | null,
  known: readonly string[],
  given: unknown,
): Unknown {
  const near = typeof given === 'string' ? suggest(given, known) : undefined;
  return { concept, term, reason, expected: `one of ${known.join(', ')}`, did_you_mean: near ?? null };
}
