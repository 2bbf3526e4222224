import { z } from 'zod';
import { CONCEPT_NAMES } from './concepts.ts';

const text = z.string().min(1);
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);

/** A law, a rule made under one, or a framework. */
const instrumentSchema = z.strictObject({
  /** The start of its citations. */
  short: text,
  title: text,
  jurisdiction: text,
  year: z.int().min(1900).max(2100),
  force: z.enum(['binding', 'voluntary']),
});

const citationSchema = z.strictObject({
  instrument: text,
  /** `Art. 5`, `s 25`, `§ 1798.100`, `GOVERN` */
  article: text,
  /** The part of the article, `(1)(e)`; null for the whole article, or where the paragraph is not certain. */
  section: text.nullable(),
  year: z.int(),
});

const ruleSchema = z.strictObject({
  term: text,
  /** Null for a standard without a measure, which a person has to apply. */
  require: z
    .union([
      z.strictObject({ op: z.enum(['at_most', 'at_least']), value: z.int().nonnegative() }),
      z.strictObject({ op: z.literal('equals'), value: z.boolean() }),
      z.strictObject({ op: z.literal('at_least_level'), value: text }),
      z.strictObject({ op: z.literal('one_of'), value: z.array(text).min(1) }),
    ])
    .nullable(),
  says: text,
  /** Condition under which it applies; null where it always does. */
  when: text.nullable(),
  /** Index into the entry's citations. */
  citation: z.int().nonnegative(),
  /** Null if it already applied at `as_of`. */
  applies_from: day.nullable(),
});

const entrySchema = z.strictObject({
  concept: z.enum(CONCEPT_NAMES),
  /** Whether the law there has the concept: fully, in part, or not at all (the citation is then the nearest). */
  equivalent: z.enum(['full', 'partial', 'none']),
  summary: text,
  citations: z.array(citationSchema).min(1),
  rules: z.array(ruleSchema),
  /** What only a person can decide. */
  decide: z.array(text),
  confidence: z.enum(['settled', 'in_motion', 'needs_person']),
  /** Why the confidence is not `settled`. */
  note: text.nullable(),
  as_of: day,
  checked: z.union([
    z.strictObject({ by_person: z.literal(false) }),
    z.strictObject({ by_person: z.literal(true), name: text, on: day }),
  ]),
});

export const jurisdictionSchema = z.strictObject({
  jurisdiction: z.string().regex(/^[a-z]{2}(?:-[a-z]{2})?$/),
  name: text,
  entries: z.array(entrySchema),
});

export const instrumentsSchema = z.record(z.string().regex(/^[a-z][a-z0-9-]*$/), instrumentSchema);

export type Instrument = z.infer<typeof instrumentSchema>;
export type Citation = z.infer<typeof citationSchema>;
export type Rule = z.infer<typeof ruleSchema>;
export type Entry = z.infer<typeof entrySchema>;
export type JurisdictionFile = z.infer<typeof jurisdictionSchema>;
