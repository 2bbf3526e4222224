import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConceptLine, Normalized } from './answer.ts';
import { CONCEPT_NAMES, type Concept, type Term, termsOf } from './concepts.ts';
import { crosswalk } from './crosswalk.ts';
import { normalize } from './normalize.ts';
import type { Stated } from './read-policy.ts';

const walk = crosswalk();
const ALL = [...walk.jurisdictions.keys()];

function ask(policy: readonly Stated[], targets: string[], jurisdiction = 'eu'): Normalized {
  return normalize(walk, { jurisdiction, policy, targets });
}

/** How one concept fares in one target. */
function fare(statement: Stated, target: string, jurisdiction = 'eu') {
  const [found] = ask([statement], [target], jurisdiction).targets;
  const [line] = found?.concepts ?? [];
  if (found === undefined || line === undefined) throw new Error('There is no answer.');
  return { line, policy: found.policy[0] };
}

const stricter = (line: ConceptLine) =>
  line.stricter.map(({ term, value, require, unit, citation }) => [
    term,
    value,
    require?.op,
    require?.value,
    unit,
    citation.label,
  ]);

describe('retention of 400 days, from the EU', () => {
  const kept = { concept: 'retention', days: 400, delete_when_purpose_ends: true, period_disclosed: true };

  it('is a question of necessity in the UK, with the citation on both sides', () => {
    const { line, policy } = fare(kept, 'uk');
    expect(line.outcome).toBe('decide');
    expect(line.from.map(({ label }) => label)).toContain('GDPR Art. 5(1)(e)');
    expect(line.to.map(({ label }) => label)).toContain('UK GDPR Art. 5(1)(e)');
    expect(line.decide).toContainEqual(expect.objectContaining({ reason: 'standard', term: 'days' }));
    expect(line.maps.map(({ term }) => term)).toEqual(['delete_when_purpose_ends', 'period_disclosed']);
    expect(policy).toEqual(kept);
  });

  it('is within what India asks for; 90 days and ten years are not', () => {
    expect(stricter(fare(kept, 'in').line)).toEqual([]);
    expect(fare(kept, 'in').line.maps.map(({ require }) => require?.value)).toEqual([365, 1095, true]);
    const short = fare({ ...kept, days: 90 }, 'in');
    expect(short.line.outcome).toBe('stricter');
    expect(stricter(short.line)).toEqual([['days', 90, 'at_least', 365, 'day', 'DPDP Rules Rule 8(3)']]);
    expect(short.policy).toMatchObject({ days: 365 });
    const long = fare({ ...kept, days: 3650 }, 'in');
    expect(stricter(long.line)).toEqual([['days', 3650, 'at_most', 1095, 'day', 'DPDP Rules Rule 8(1)']]);
    expect(long.line.stricter[0]?.when).toContain('Third Schedule');
    expect(long.policy).toMatchObject({ days: 1095 });
  });

  it('has no number to compare with anywhere else', () => {
    for (const target of ALL.filter((one) => one !== 'eu' && one !== 'in')) {
      expect(stricter(fare({ concept: 'retention', days: 400 }, target).line), target).toEqual([]);
    }
  });
});

describe('numbers, levels and choices', () => {
  it.each<[Stated, string, unknown[]]>([
    [
      { concept: 'incident_notice', authority_hours: 72 },
      'in',
      ['authority_hours', 72, 'at_most', 6, 'hour', 'CERT-In Direction (ii)'],
    ],
    [
      { concept: 'incident_notice', authority_hours: 100 },
      'sg',
      ['authority_hours', 100, 'at_most', 72, 'hour', 'PDPA s 26D(1)'],
    ],
    [
      { concept: 'incident_notice', people_hours: 1000 },
      'us-ca',
      ['people_hours', 1000, 'at_most', 720, 'hour', 'Cal. Civ. Code § 1798.82(a)'],
    ],
    [
      { concept: 'children', consent_age: 16 },
      'in',
      ['consent_age', 16, 'at_least', 18, 'year', 'DPDP Act s 9(1)'],
    ],
    [{ concept: 'logging', months: 6 }, 'ca', ['months', 6, 'at_least', 24, 'month', 'SOR/2018-64 s 6(1)']],
    [
      { concept: 'automated_decisions', significant: 'any' },
      'us-co',
      ['significant', 'any', 'at_least_level', 'with_safeguards', null, 'SB 26-189, C.R.S. § 6-1-1704'],
    ],
    [
      { concept: 'purpose', basis: 'legitimate_interests' },
      'ca',
      [
        'basis',
        'legitimate_interests',
        'one_of',
        ['consent', 'legal_obligation', 'vital_interests'],
        null,
        'PIPEDA Sched. 1 cl. 4.3',
      ],
    ],
  ])('%j in %s', (statement, target, expected) => {
    const { line } = fare(statement, target);
    expect(line.outcome).toBe('stricter');
    expect(stricter(line)).toEqual([expected]);
  });

  it.each<[Stated, string]>([
    [{ concept: 'incident_notice', authority_hours: 6 }, 'in'],
    [{ concept: 'incident_notice', authority_hours: 72 }, 'uk'],
    [{ concept: 'children', consent_age: 16 }, 'us'],
    [{ concept: 'children', consent_age: 16 }, 'uk'],
    [{ concept: 'purpose', basis: 'consent' }, 'in'],
  ])('%j maps in %s', (statement, target) => {
    const { line, policy } = fare(statement, target);
    expect([line.outcome, line.stricter]).toEqual(['maps', []]);
    expect(line.maps.length).toBeGreaterThan(0);
    expect(policy).toEqual(statement);
  });

  it('leaves out what a person has to choose', () => {
    const { line, policy } = fare({ concept: 'purpose', basis: 'contract', specified: true }, 'in');
    expect(policy).toEqual({ concept: 'purpose', specified: true });
    expect(line.decide).toContainEqual(expect.objectContaining({ reason: 'choice', term: 'basis' }));
  });

  it('asks a person whether a condition holds', () => {
    const { line } = fare({ concept: 'logging', months: 1 }, 'eu', 'sg');
    expect(line.stricter).toHaveLength(2);
    expect(line.decide.filter(({ reason }) => reason === 'condition')).toHaveLength(2);
  });
});

describe('where nothing binds', () => {
  it('a concept that the law does not know has no equivalent', () => {
    const { line } = fare({ concept: 'region_transfer', transfer_basis: 'adequacy' }, 'us-ca');
    expect([line.outcome, line.no_equivalent, line.equivalent]).toEqual([
      'no_equivalent',
      ['transfer_basis'],
      'none',
    ]);
    expect(line.to).toHaveLength(1);
  });

  it('a term that the law does not know is named', () => {
    const { line } = fare({ concept: 'transparency', notice_at_collection: true, ai_disclosed: true }, 'uk');
    expect([line.outcome, line.no_equivalent]).toEqual(['maps', ['ai_disclosed']]);
  });

  it('a voluntary framework makes nothing stricter', () => {
    const { line, policy } = fare({ concept: 'human_oversight', level: 'none' }, 'us');
    expect([line.outcome, line.stricter]).toEqual(['decide', []]);
    expect(line.decide).toContainEqual(
      expect.objectContaining({
        reason: 'voluntary',
        term: 'level',
        citation: expect.objectContaining({ label: 'NIST AI RMF 1.0 MANAGE 2.4', force: 'voluntary' }),
      }),
    );
    expect(policy).toEqual({ concept: 'human_oversight', level: 'none' });
  });

  it('what the policy leaves unsaid is listed: terms, and whole concepts', () => {
    const [target] = ask([{ concept: 'incident_notice', authority_hours: 72 }], ['uk']).targets;
    expect(target?.concepts[0]?.decide).toContainEqual(
      expect.objectContaining({ reason: 'unstated', term: 'people_hours' }),
    );
    expect(target?.unstated).toEqual(CONCEPT_NAMES.filter((concept) => concept !== 'incident_notice'));
  });
});

describe('what is not known', () => {
  it('is reported, and neither guessed nor translated', () => {
    const answer = ask(
      [
        { concept: 'retention', days: '400', dayz: 400, delete_when_purpose_ends: 'yes' },
        { concept: 'retenion', days: 1 },
        { concept: 'purpose', basis: 'because it helps our customers', specified: true },
        { concept: 'human_oversight', level: 'on_requst' },
        { concept: 'children', consent_age: -1 },
        { concept: 'logging', months: 1.5 },
      ],
      ['in'],
    );
    expect(
      answer.unknown.map(({ concept, term, reason, did_you_mean }) => [concept, term, reason, did_you_mean]),
    ).toEqual([
      ['children', 'consent_age', 'unknown_value', null],
      ['human_oversight', 'level', 'unknown_value', 'on_request'],
      ['logging', 'months', 'unknown_value', null],
      ['purpose', 'basis', 'unknown_value', null],
      ['retenion', null, 'unknown_concept', 'retention'],
      ['retention', 'days', 'unknown_value', null],
      ['retention', 'dayz', 'unknown_term', 'days'],
      ['retention', 'delete_when_purpose_ends', 'unknown_value', null],
    ]);
    expect(answer.policy).toEqual([
      { concept: 'purpose', specified: true },
      { concept: 'retention' },
      { concept: 'human_oversight' },
      { concept: 'logging' },
      { concept: 'children' },
    ]);
    expect(answer.targets[0]?.concepts.flatMap((line) => line.stricter)).toEqual([]);
  });

  it.each([
    ['mars', ['eu'], 'jurisdiction'],
    ['eu', ['uk', 'mars'], 'targets[1]'],
    ['eu', ['EU'], 'targets[0]'],
    ['__proto__', ['eu'], 'jurisdiction'],
  ])('the jurisdiction: from %s to %j names %s', (jurisdiction, targets, field) => {
    expect(() => ask([{ concept: 'retention' }], targets, jurisdiction)).toThrow(
      expect.objectContaining({ code: 'unknown_jurisdiction', field }),
    );
  });

  it.each(['__proto__', 'constructor', 'toString'])('the concept %s', (concept) => {
    expect(ask([{ concept }], ['uk']).unknown).toMatchObject([{ concept, reason: 'unknown_concept' }]);
    const said = JSON.parse(`{"concept": "retention", "${concept}": 1}`) as Stated;
    expect(ask([said], ['uk']).unknown).toMatchObject([{ term: concept, reason: 'unknown_term' }]);
  });

  it('a concept that is stated twice is refused', () => {
    expect(() =>
      ask(
        [
          { concept: 'retention', days: 1 },
          { concept: 'retention', days: 2 },
        ],
        ['uk'],
      ),
    ).toThrow(expect.objectContaining({ code: 'conflicting_fields', field: 'policy[1].concept' }));
  });
});

function valueOf(term: Term): fc.Arbitrary<number | boolean | string> {
  switch (term.kind) {
    case 'quantity':
      return fc.nat(5000);
    case 'flag':
      return fc.boolean();
    case 'level':
    case 'choice':
      return fc.constantFrom(...term.values);
  }
}

function statementOf(concept: Concept): fc.Arbitrary<Stated> {
  const terms = Object.fromEntries([...termsOf(concept)].map(([name, term]) => [name, valueOf(term)]));
  return fc.record(terms, { requiredKeys: [] }).map((said) => ({ concept, ...said }));
}

const policies = fc
  .subarray([...CONCEPT_NAMES], { minLength: 1 })
  .chain((concepts) => fc.tuple(...concepts.map(statementOf)));
const jurisdictions = fc.constantFrom(...ALL);

describe('whatever the policy', () => {
  it('for the same jurisdiction nothing changes', () => {
    fc.assert(
      fc.property(policies, jurisdictions, (policy, jurisdiction) => {
        const [target] = ask(policy, [jurisdiction], jurisdiction).targets;
        const order = ({ concept }: Stated): number => CONCEPT_NAMES.indexOf(concept as Concept);
        expect(target?.policy).toEqual(policy.toSorted((a, b) => order(a) - order(b)));
        for (const line of target?.concepts ?? [])
          expect(line).toMatchObject({
            outcome: 'same',
            maps: [],
            stricter: [],
            no_equivalent: [],
            decide: [],
          });
        expect(target?.unstated).toEqual([]);
      }),
    );
  });

  it('the order of statements, terms and targets means nothing', () => {
    const shuffled = policies.chain((policy) =>
      fc.tuple(fc.constant(policy), fc.shuffledSubarray(policy, { minLength: policy.length })),
    );
    fc.assert(
      fc.property(
        shuffled,
        fc
          .subarray(ALL, { minLength: 1 })
          .chain((some) =>
            fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
          ),
        jurisdictions,
        ([policy, other], [targets, others], from) => {
          const backwards = other.map(
            (one) => Object.fromEntries(Object.entries(one).toReversed()) as unknown as Stated,
          );
          const doubled = [...others, ...others];
          expect(JSON.stringify(ask(backwards, doubled, from))).toBe(
            JSON.stringify(ask(policy, targets, from)),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  it('what is expressed for a target is stricter nowhere there', () => {
    fc.assert(
      fc.property(policies, jurisdictions, jurisdictions, (policy, from, to) => {
        const [once] = ask(policy, [to], from).targets;
        if (from === to || once === undefined) return;
        const [twice] = ask(once.policy, [to], from).targets;
        expect(twice?.concepts.flatMap((line) => line.stricter)).toEqual([]);
        expect(twice?.policy).toEqual(once.policy);
      }),
    );
  });

  it('every term that is stated is answered for', () => {
    fc.assert(
      fc.property(policies, jurisdictions, jurisdictions, (policy, from, to) => {
        if (from === to) return;
        for (const line of ask(policy, [to], from).targets[0]?.concepts ?? []) {
          const said = Object.keys(policy.find((one) => one.concept === line.concept) ?? {});
          const answered = [...line.maps, ...line.stricter, ...line.decide].map(({ term }) => term);
          const all = new Set([...answered, ...line.no_equivalent]);
          expect(said.filter((term) => term !== 'concept' && !all.has(term))).toEqual([]);
        }
      }),
      { numRuns: 50 },
    );
  });
});
