import { TallyError } from '@tallystick/core';
import { suggest } from '@tallystick/kit';
import type { Normalized, PolicyStatement, Target } from './answer.ts';
import { compareConcept, sameConcept } from './compare-concept.ts';
import type { Crosswalk, Jurisdiction } from './crosswalk.ts';
import type { Entry } from './crosswalk-schema.ts';
import { readPolicy, type Stated, type Statement } from './read-policy.ts';

/** A policy, the jurisdiction it was made for, and those to express it for. */
export interface NormalizeRequest {
  readonly jurisdiction: string;
  readonly policy: readonly Stated[];
  readonly targets: readonly string[];
}

export const NOTICE =
  'This is not legal advice. It is a comparison by a machine of the statements that were given with a curated table of laws, which is incomplete and may be out of date or wrong. Each entry says whether a person has checked it. Have a lawyer of the jurisdiction decide.';

/**
 * Expresses a policy for other jurisdictions. The result depends only on the statements and targets, not on their
 * order.
 * @throws unknown_jurisdiction, with the field; conflicting_fields where a concept is stated twice
 */
export function normalize(walk: Crosswalk, { jurisdiction, policy, targets }: NormalizeRequest): Normalized {
  const source = find(walk, jurisdiction, 'jurisdiction');
  const selected = new Set(targets.map((target, index) => find(walk, target, `targets[${index}]`)));
  const { statements, unknown } = readPolicy(policy);
  return {
    type: 'svc-rosetta-v1',
    notice: NOTICE,
    jurisdiction: source.id,
    crosswalk: {
      version: walk.version,
      digest: walk.digest,
      as_of: walk.asOf,
      entries: walk.entries,
      checked_by_person: walk.checkedByPerson,
    },
    policy: statements.map(toJson),
    unknown,
    targets: [...walk.jurisdictions.values()]
      .filter((one) => selected.has(one))
      .map((target) => express(walk, statements, source, target)),
  };
}

function express(
  walk: Crosswalk,
  statements: readonly Statement[],
  source: Jurisdiction,
  target: Jurisdiction,
): Target {
  const compared = statements.map((statement) => {
    const to = entryOf(target, statement);
    if (target === source) return sameConcept(walk, statement, to);
    return compareConcept(walk, statement, { from: entryOf(source, statement), to });
  });
  const stated = new Set(statements.map(({ concept }) => concept));
  const unstated = [...target.entries.values()].filter(
    (entry) => entry.rules.length > 0 && !stated.has(entry.concept),
  );
  return {
    jurisdiction: target.id,
    name: target.name,
    policy: compared.map(({ expressed }) => toJson(expressed)),
    concepts: compared.map(({ line }) => line),
    unstated: target === source ? [] : unstated.map(({ concept }) => concept),
  };
}

function toJson({ concept, terms }: Statement): PolicyStatement {
  return Object.assign({ concept }, Object.fromEntries(terms));
}

function entryOf({ entries }: Jurisdiction, { concept }: Statement): Entry {
  const entry = entries.get(concept);
  if (entry === undefined) throw new Error('The crosswalk was not validated.');
  return entry;
}

function find({ jurisdictions }: Crosswalk, id: string, field: string): Jurisdiction {
  const found = jurisdictions.get(id);
  if (found !== undefined) return found;
  const known = [...jurisdictions.keys()];
  const near = suggest(id, known);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new TallyError(
    'unknown_jurisdiction',
    `The crosswalk has no jurisdiction “${id.slice(0, 40)}”.${hint} It has ${known.join(', ')}.`,
    { field },
  );
}
