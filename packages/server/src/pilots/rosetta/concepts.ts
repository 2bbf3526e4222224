/** A term of a concept, in a form that a machine can compare. */
export type Term =
  /** A whole number of the unit, from 0. */
  | { readonly kind: 'quantity'; readonly unit: Unit; readonly says: string }
  | { readonly kind: 'flag'; readonly says: string }
  /** One of these, from the least to the most strict. */
  | { readonly kind: 'level'; readonly values: readonly string[]; readonly says: string }
  /** One of these, none stricter than another. */
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly says: string };

type Unit = 'day' | 'hour' | 'month' | 'year';

/** The terms of each concept, in the order in which answers list them. */
export const CONCEPTS = {
  purpose: {
    specified: { kind: 'flag', says: 'Purposes are fixed and documented before data are collected.' },
    basis: {
      kind: 'choice',
      values: [
        'consent',
        'contract',
        'legal_obligation',
        'vital_interests',
        'public_task',
        'legitimate_interests',
      ],
      says: 'The ground on which personal data are processed.',
    },
    further_use: {
      kind: 'level',
      values: ['unrestricted', 'compatible_only', 'fresh_consent'],
      says: 'What is required before data are used for another purpose than the first one.',
    },
  },
  retention: {
    days: { kind: 'quantity', unit: 'day', says: 'How long personal data are kept.' },
    delete_when_purpose_ends: {
      kind: 'flag',
      says: 'Data are deleted or made anonymous once the purpose is served.',
    },
    period_disclosed: { kind: 'flag', says: 'People are told the period, or how it is decided.' },
  },
  training_use: {
    personal_data: {
      kind: 'level',
      values: ['any', 'opt_out', 'opt_in', 'none'],
      says: 'Whether personal data train models: any, unless a person objects, with consent, or not at all.',
    },
    sources_documented: {
      kind: 'flag',
      says: 'The origin of training data is documented, in a form to publish.',
    },
  },
  region_transfer: {
    region: {
      kind: 'choice',
      values: ['eu', 'uk', 'us', 'ca', 'br', 'in', 'jp', 'sg', 'other'],
      says: 'Where data are kept.',
    },
    transfer_basis: {
      kind: 'choice',
      values: [
        'adequacy',
        'standard_clauses',
        'binding_rules',
        'certification',
        'consent',
        'contract_necessity',
        'none',
      ],
      says: 'The ground on which data are transferred to another country.',
    },
    transfer_assessment: {
      kind: 'flag',
      says: 'The protection at the destination is assessed and documented before a transfer.',
    },
  },
  human_oversight: {
    level: {
      kind: 'level',
      values: ['none', 'on_request', 'can_intervene', 'before_effect'],
      says: 'How people oversee the system: not at all, by review on request, by watching and stopping it, or by deciding before anything takes effect.',
    },
    competent_staff: {
      kind: 'flag',
      says: 'Those who oversee have the competence, training and authority for it.',
    },
  },
  logging: {
    automatic: { kind: 'flag', says: 'The system records its events by itself.' },
    months: { kind: 'quantity', unit: 'month', says: 'How long logs and records are kept.' },
    processing_record: { kind: 'flag', says: 'There is a register of the processing.' },
  },
  transparency: {
    notice_at_collection: {
      kind: 'flag',
      says: 'People are told what is collected, and why, at the time of collection.',
    },
    ai_disclosed: { kind: 'flag', says: 'People are told that they are dealing with an AI system.' },
    synthetic_marked: { kind: 'flag', says: 'Generated content is marked in a machine-readable form.' },
  },
  automated_decisions: {
    significant: {
      kind: 'level',
      values: ['any', 'with_safeguards', 'exceptions_only', 'none'],
      says: 'Which decisions with legal or similar effect are made by a machine alone.',
    },
    explanation: { kind: 'flag', says: 'A person gets the reasons or the logic of a decision.' },
    human_review: { kind: 'flag', says: 'A person can contest a decision and have a human review it.' },
    opt_out: { kind: 'flag', says: 'A person can refuse the automated decision or the profiling.' },
  },
  incident_notice: {
    authority_hours: {
      kind: 'quantity',
      unit: 'hour',
      says: 'Hours from becoming aware of an incident until the authority is notified.',
    },
    people_hours: {
      kind: 'quantity',
      unit: 'hour',
      says: 'Hours from becoming aware of an incident until the people concerned are notified.',
    },
  },
  children: {
    consent_age: {
      kind: 'quantity',
      unit: 'year',
      says: 'The age below which a parent has to consent.',
    },
    ads_to_minors: { kind: 'flag', says: 'Minors see advertising that is targeted by their data.' },
  },
  security: {
    measures: { kind: 'flag', says: 'Technical and organisational measures that fit the risk.' },
    encryption: { kind: 'flag', says: 'Personal data are encrypted, masked or tokenised.' },
    risk_assessment: { kind: 'flag', says: 'Risky processing is assessed and documented beforehand.' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Term>>>>;

export type Concept = keyof typeof CONCEPTS;

export const CONCEPT_NAMES = Object.keys(CONCEPTS) as Concept[];

export function isConcept(name: string): name is Concept {
  return Object.hasOwn(CONCEPTS, name);
}

/** The terms of a concept by their names. */
export function termsOf(concept: Concept): ReadonlyMap<string, Term> {
  return TERMS[concept];
}

const TERMS = Object.fromEntries(
  CONCEPT_NAMES.map((concept) => [concept, new Map<string, Term>(Object.entries(CONCEPTS[concept]))]),
) as Readonly<Record<string, ReadonlyMap<string, Term>>> as Readonly<
  Record<Concept, ReadonlyMap<string, Term>>
>;

/** The values that a term accepts, in words. */
export function expectation(term: Term): string {
  switch (term.kind) {
    case 'quantity':
      return `a whole number of ${term.unit}s, from 0`;
    case 'flag':
      return 'true or false';
    case 'level':
    case 'choice':
      return `one of ${term.values.join(', ')}`;
  }
}

export type TermValue = number | boolean | string;

/** Whether the term accepts the value: nothing is converted, and no text is interpreted. */
export function holds(term: Term, value: unknown): value is TermValue {
  switch (term.kind) {
    case 'quantity':
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case 'flag':
      return typeof value === 'boolean';
    case 'level':
    case 'choice':
      return typeof value === 'string' && term.values.includes(value);
  }
}
