import { canonicalBytes, type JsonObject, sha256Hex } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { CONCEPT_NAMES, holds, termsOf } from './concepts.ts';
import eu from './crosswalk/eu.json' with { type: 'json' };
import instruments from './crosswalk/instruments.json' with { type: 'json' };
import { crosswalk, openCrosswalk } from './crosswalk.ts';
import type { Citation, Entry } from './crosswalk-schema.ts';
import { OPERATORS } from './requirement.ts';

const JURISDICTIONS = ['eu', 'uk', 'us', 'us-ca', 'us-co', 'ca', 'br', 'in', 'jp', 'sg'];

/** How each instrument is cited: its article, and what is within. */
const ARTICLE = /^Art\. \d{1,3}[A-Z]?$/;
const SECTION = /^s \d{1,3}[A-Z]?$/;
const BRACKETS = /^(?:\(\w{1,4}\)){1,3}$/;
const INCISO = /^(?:[IVX]+|§ \d)$/;
const FORMS: Readonly<Record<string, readonly [article: RegExp, section: RegExp | null]>> = {
  gdpr: [ARTICLE, BRACKETS],
  'ai-act': [ARTICLE, BRACKETS],
  dsa: [ARTICLE, BRACKETS],
  'uk-gdpr': [ARTICLE, BRACKETS],
  'uk-dpa': [SECTION, BRACKETS],
  'uk-duaa': [SECTION, BRACKETS],
  'nist-ai-rmf': [/^(?:GOVERN|MAP|MEASURE|MANAGE)$/, /^[1-6]\.\d{1,2}$/],
  'us-coppa': [/^§ 650[1-6]$/, BRACKETS],
  'us-coppa-rule': [/^§ 312\.\d{1,2}$/, BRACKETS],
  'us-ftc-act': [/^§ 45$/, BRACKETS],
  'us-ecoa': [/^§ 1691$/, BRACKETS],
  'us-data-security': [/^Part 202$/, null],
  'us-ca-ccpa': [/^§ 1798\.1\d\d$/, BRACKETS],
  'us-ca-ccpa-regs': [/^§ 7\d{3}$/, BRACKETS],
  'us-ca-breach': [/^§ 1798\.8\d$/, BRACKETS],
  'us-ca-ab2013': [/^§ 311\d$/, BRACKETS],
  'us-ca-bots': [/^§ 1794\d$/, BRACKETS],
  'us-ca-sb942': [/^§ 22757(?:\.\d)?$/, BRACKETS],
  'us-co-cpa': [/^§ 6-1-13\d\d(?:\.5)?$/, BRACKETS],
  'us-co-cpa-rules': [/^Rule \d\.\d\d$/, null],
  'us-co-ccpa': [/^§ 6-1-71\d(?:\.5)?$/, BRACKETS],
  'us-co-sb26-189': [/^§ 6-1-17\d\d$/, null],
  'ca-pipeda': [/^(?:Sched\. 1|s \d{1,2}(?:\.\d)?)$/, /^(?:cl\. 4\.\d{1,2}(?:\.\d)?|\(\d\))$/],
  'ca-breach': [/^s \d$/, BRACKETS],
  'ca-qc-private': [/^s \d{1,2}(?:\.\d)?$/, BRACKETS],
  'br-lgpd': [ARTICLE, INCISO],
  'br-marco-civil': [ARTICLE, INCISO],
  'br-anpd-15': [ARTICLE, null],
  'br-eca': [ARTICLE, INCISO],
  'br-eca-digital': [ARTICLE, null],
  'in-dpdp': [SECTION, BRACKETS],
  'in-dpdp-rules': [/^Rule \d{1,2}$/, BRACKETS],
  'in-cert': [/^Direction$/, /^\([iv]+\)$/],
  'jp-appi': [ARTICLE, BRACKETS],
  'jp-appi-rules': [ARTICLE, BRACKETS],
  'jp-ppc': [/^\d(?:-\d{1,2}){1,3}$/, null],
  'jp-ai-business': [/^Part \d$/, null],
  'jp-copyright': [/^Art\. \d+(?:-\d)?$/, null],
  'sg-pdpa': [SECTION, BRACKETS],
  'sg-pdp-regs': [/^reg \d{1,2}$/, BRACKETS],
  'sg-mgf': [
    /^(?:Internal Governance Structures and Measures|Determining the Level of Human Involvement in AI-augmented Decision-making|Operations Management|Stakeholder Interaction and Communication)$/,
    null,
  ],
  'sg-ai-advisory': [/^Guidelines$/, null],
  'sg-children': [/^Guidelines$/, null],
};

const walk = crosswalk();
const cases = JURISDICTIONS.flatMap((jurisdiction) =>
  CONCEPT_NAMES.map((concept) => [jurisdiction, concept] as const),
);

function entryOf(jurisdiction: string, concept: string): Entry {
  const entry = [...(walk.jurisdictions.get(jurisdiction)?.entries.values() ?? [])].find(
    (one) => one.concept === concept,
  );
  if (entry === undefined) throw new Error(`There is no entry for ${jurisdiction} ${concept}.`);
  return entry;
}

const key = (value: unknown): string => JSON.stringify(value);

describe.each(cases)('the crosswalk, %s %s', (jurisdiction, concept) => {
  const entry = entryOf(jurisdiction, concept);

  it('cites law of that jurisdiction, in the form of each instrument', () => {
    expect(entry.citations.length).toBeGreaterThan(0);
    for (const citation of entry.citations) expectForm(jurisdiction, citation);
  });

  it('repeats neither a citation nor a rule', () => {
    expect(new Set(entry.citations.map(key)).size).toBe(entry.citations.length);
    const rules = entry.rules.map(({ term, require, when }) => key([term, require, when]));
    expect(new Set(rules).size).toBe(rules.length);
  });

  it('has a comparison for each rule that can be stricter, and words for the others', () => {
    for (const { term: name, require, says, when } of entry.rules) {
      expect(`${says} ${when ?? 'always'}`).toMatch(/^\S.*[.] \S.*[^.]$/);
      const term = termsOf(entry.concept).get(name);
      expect(term, name).toBeDefined();
      if (require === null || term === undefined) continue;
      expect(OPERATORS[term.kind]).toContain(require.op);
      for (const value of [require.value].flat()) expect(holds(term, value), `${name} ${value}`).toBe(true);
    }
    expect(entry.rules.length === 0).toBe(entry.equivalent === 'none');
  });

  it('says how far to trust it, and that no person has checked it', () => {
    expect(entry.checked).toEqual({ by_person: false });
    expect(entry.as_of).toMatch(/^202\d-\d\d-\d\d$/);
    expect(entry.note === null).toBe(entry.confidence === 'settled');
    const later = entry.rules.filter(({ applies_from: from }) => from !== null && from > entry.as_of);
    expect(later.length > 0 && entry.confidence === 'settled').toBe(false);
  });
});

function expectForm(jurisdiction: string, { instrument, article, section, year }: Citation): void {
  const known = walk.instruments.get(instrument);
  expect(known, instrument).toMatchObject({ jurisdiction, year });
  const [ofArticle, ofSection] = FORMS[instrument] ?? [/^$/, null];
  expect(article).toMatch(ofArticle);
  if (section === null) return;
  expect(ofSection, `${instrument} ${section}`).not.toBeNull();
  expect(section).toMatch(ofSection ?? /^$/);
}

describe('the crosswalk', () => {
  it('has each jurisdiction and concept once, and a form for every instrument', () => {
    expect([...walk.jurisdictions.keys()]).toEqual(JURISDICTIONS);
    expect(walk.entries).toBe(cases.length);
    expect(Object.keys(FORMS).toSorted()).toEqual([...walk.instruments.keys()].toSorted());
    const cited = cases.flatMap(([jurisdiction, concept]) =>
      entryOf(jurisdiction, concept).citations.map(({ instrument }) => instrument),
    );
    expect([...new Set(cited)].toSorted()).toEqual([...walk.instruments.keys()].toSorted());
  });

  it.each([
    ['eu', 'incident_notice', 'authority_hours', 72, 'gdpr', 'Art. 33'],
    ['eu', 'logging', 'months', 6, 'ai-act', 'Art. 26'],
    ['eu', 'children', 'consent_age', 16, 'gdpr', 'Art. 8'],
    ['uk', 'children', 'consent_age', 13, 'uk-dpa', 's 9'],
    ['us', 'children', 'consent_age', 13, 'us-coppa', '§ 6501'],
    ['us-ca', 'incident_notice', 'people_hours', 720, 'us-ca-breach', '§ 1798.82'],
    ['us-co', 'incident_notice', 'people_hours', 720, 'us-co-ccpa', '§ 6-1-716'],
    ['us-co', 'logging', 'months', 36, 'us-co-sb26-189', '§ 6-1-1702'],
    ['us-co', 'human_oversight', 'level', 'on_request', 'us-co-sb26-189', '§ 6-1-1705'],
    ['us-co', 'automated_decisions', 'human_review', true, 'us-co-sb26-189', '§ 6-1-1705'],
    ['ca', 'logging', 'months', 24, 'ca-breach', 's 6'],
    ['ca', 'children', 'consent_age', 14, 'ca-qc-private', 's 4.1'],
    ['br', 'logging', 'months', 6, 'br-marco-civil', 'Art. 15'],
    ['br', 'children', 'consent_age', 12, 'br-eca', 'Art. 2'],
    ['in', 'incident_notice', 'authority_hours', 6, 'in-cert', 'Direction'],
    ['in', 'children', 'consent_age', 18, 'in-dpdp', 's 9'],
    ['in', 'retention', 'days', 365, 'in-dpdp-rules', 'Rule 8'],
    ['jp', 'incident_notice', 'authority_hours', 720, 'jp-appi-rules', 'Art. 8'],
    ['sg', 'incident_notice', 'authority_hours', 72, 'sg-pdpa', 's 26D'],
  ] as const)(
    'has what the law asks of %s %s %s: %s',
    (jurisdiction, concept, term, value, instrument, article) => {
      const { rules, citations } = entryOf(jurisdiction, concept);
      const found = rules.filter((rule) => rule.term === term && rule.require?.value === value);
      expect(found.map(({ citation }) => citations[citation])).toContainEqual(
        expect.objectContaining({ instrument, article }),
      );
    },
  );

  it('says that NIST’s framework binds nobody, and when Colorado’s law was put off and replaced', () => {
    expect(walk.instruments.get('nist-ai-rmf')?.force).toBe('voluntary');
    const note = entryOf('us-co', 'automated_decisions').note ?? '';
    for (const part of ['SB 24-205', '30 June 2026', 'SB 26-189', '1 January 2027'])
      expect(note).toContain(part);
  });

  it('has a digest over its JCS that changes with any of it', () => {
    expect(walk.digest).toBe(`sha256:${sha256Hex(canonicalBytes(walk.document))}`);
    const files = (walk.document as JsonObject)['jurisdictions'] as JsonObject[];
    const renamed = [{ ...files[0], name: 'Elsewhere' }, ...files.slice(1)];
    expect(openCrosswalk(files, instruments).digest).toBe(walk.digest);
    expect(openCrosswalk(renamed, instruments).digest).not.toBe(walk.digest);
  });
});

describe('a crosswalk file is refused', () => {
  const first = eu.entries[0] as unknown as Entry;
  const withFirst = (change: Partial<Entry>) => ({
    ...eu,
    entries: [{ ...first, ...change }, ...eu.entries.slice(1)],
  });
  const [rule] = first.rules;

  it.each<[string, unknown, RegExp]>([
    ['without an entry', { ...eu, entries: eu.entries.slice(1) }, /each concept once/],
    [
      'with entries in another order',
      { ...eu, entries: [...eu.entries].reverse() },
      /each concept once, in order/,
    ],
    ['with a member more', withFirst({ extra: 1 } as never), /extra/],
    ['without a citation', withFirst({ citations: [] }), /citations/],
    [
      'with an instrument that there is not',
      withFirst({ citations: [{ instrument: 'x', article: 'Art. 1', section: null, year: 2016 }] }),
      /no instrument x/,
    ],
    [
      'with law of another jurisdiction',
      withFirst({ citations: [{ instrument: 'uk-gdpr', article: 'Art. 5', section: null, year: 2016 }] }),
      /another jurisdiction/,
    ],
    [
      'with another year',
      withFirst({ citations: first.citations.map((one) => ({ ...one, year: 2018 })) }),
      /is of 2016/,
    ],
    ['with a term that there is not', withFirst({ rules: [{ ...rule, term: 'x' } as never] }), /no term x/],
    [
      'with a requirement that does not fit',
      withFirst({ rules: [{ ...rule, require: { op: 'at_most', value: 3 } } as never] }),
      /does not fit the term specified/,
    ],
    [
      'with a citation that there is not',
      withFirst({ rules: [{ ...rule, citation: 9 } as never] }),
      /no citation 9/,
    ],
    ['in motion without a note', withFirst({ confidence: 'in_motion' }), /a note is there/],
    ['without a word on who checked it', withFirst({ checked: undefined as never }), /checked/],
    ['checked by nobody in particular', withFirst({ checked: { by_person: true } as never }), /checked/],
  ])('%s', (_, file, message) => {
    expect(() => openCrosswalk([file], instruments)).toThrow(message);
  });
});
