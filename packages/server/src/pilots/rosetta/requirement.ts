import type { Term, TermValue } from './concepts.ts';

/** What a law requires of a term, in a form that a machine can compare. `value` is in the term's unit. */
export type Requirement =
  | { readonly op: 'at_most' | 'at_least'; readonly value: number }
  | { readonly op: 'equals'; readonly value: boolean }
  /** At least as strict as this level. */
  | { readonly op: 'at_least_level'; readonly value: string }
  | { readonly op: 'one_of'; readonly value: readonly string[] };

export const OPERATORS = {
  quantity: ['at_most', 'at_least'],
  flag: ['equals'],
  level: ['at_least_level'],
  choice: ['one_of'],
} as const satisfies Record<Term['kind'], readonly Requirement['op'][]>;

/** Whether a value of the term meets the requirement. */
export function meets(term: Term, requirement: Requirement, value: TermValue): boolean {
  switch (requirement.op) {
    case 'at_most':
      return Number(value) <= requirement.value;
    case 'at_least':
      return Number(value) >= requirement.value;
    case 'equals':
      return value === requirement.value;
    case 'at_least_level':
      return rank(term, value) >= rank(term, requirement.value);
    case 'one_of':
      return requirement.value.includes(String(value));
  }
}

function rank(term: Term, value: TermValue): number {
  return term.kind === 'level' ? term.values.indexOf(String(value)) : -1;
}

/**
 * The value nearest to the given one that meets all requirements; null where there is none, or where a person has to
 * choose among several.
 */
export function nearest(
  term: Term,
  requirements: readonly Requirement[],
  value: TermValue,
): TermValue | null {
  let moved = value;
  for (const requirement of [...requirements].sort(byOperator)) {
    if (meets(term, requirement, moved)) continue;
    const to = requirement.op === 'one_of' ? only(requirement.value) : requirement.value;
    if (to === null) return null;
    moved = to;
  }
  return requirements.every((requirement) => meets(term, requirement, moved)) ? moved : null;
}

/** Sorts requirements, so that the order of the laws has no effect. */
function byOperator(a: Requirement, b: Requirement): number {
  const key = ({ op, value }: Requirement): string => `${op} ${JSON.stringify(value)}`;
  return key(a) < key(b) ? -1 : 1;
}

function only(values: readonly string[]): string | null {
  const [first, ...others] = values;
  return first === undefined || others.length > 0 ? null : first;
}
