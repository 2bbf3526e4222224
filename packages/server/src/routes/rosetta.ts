import { z } from '@hono/zod-openapi';
import { agentHeader, PARTNER_ERRORS, PARTNER_HEADERS } from '@tallystick/callers';
import type { JsonValue } from '@tallystick/core';
import { idempotencyClaim, replayOf } from '@tallystick/kit';
import { receiptAnswer } from '@tallystick/receipts';
import { json, text } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { MINT_HEADERS } from './receipt-answer.ts';
import { envelopeSchema } from './receipt-shapes.ts';
import { count, digestText } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'store' | 'issuer' | 'clients' | 'callers'>;

const GROUP = 'Rosetta';
const ROUTE = '/v1/rosetta/normalize';
/** Most members of a statement; no concept has nearly as many terms. */
const MAX_MEMBERS = 32;

/** Policies across jurisdictions (specification 4.1). The crosswalk is loaded with the first request. */
export function rosettaRoutes(services: Needs): Endpoint[] {
  return [normalization(services), crosswalkRead()];
}

const statementSchema = z
  .looseObject({
    concept: z.string().min(1).max(100).openapi({ description: 'The concept.', example: 'retention' }),
  })
  .openapi({
    description: 'A concept, and what the policy states about it in the terms of GET /v1/rosetta/crosswalk.',
  });

const statement = statementSchema.refine(
  (members) => Object.keys(members).length <= MAX_MEMBERS,
  `A statement has at most ${MAX_MEMBERS} members`,
);

const citationSchema = z
  .object({
    label: z
      .string()
      .openapi({ description: 'The citation as one writes it.', example: 'GDPR Art. 5(1)(e)' }),
    instrument: z.string().openapi({ description: 'The id of the instrument in the crosswalk.' }),
    title: z.string().openapi({ description: 'The title of the instrument.' }),
    article: z.string().openapi({ description: 'The article.' }),
    section: z.string().nullable().openapi({ description: 'The section of the article.' }),
    year: z.int().openapi({ description: 'The year of the instrument.' }),
    force: z.enum(['binding', 'voluntary']).openapi({ description: 'Whether it binds.' }),
  })
  .openapi('Citation', { description: 'A place in a law or a standard.' });

const tableMembers = {
  version: z.string().openapi({ description: 'The version of the table.' }),
  digest: digestText.openapi({ description: 'The hash of its JCS.' }),
  as_of: z.string().openapi({ description: 'The day of the table.' }),
  entries: count.openapi({ description: 'Number of its entries.' }),
  checked_by_person: count.openapi({ description: 'Of them, how many a person has checked.' }),
};

const value = z.union([z.number(), z.boolean(), z.string()]);

const termLineSchema = z
  .object({
    term: z.string().openapi({ description: 'The term of the concept.' }),
    value: value.nullable().openapi({ description: 'What the policy says; null where it says nothing.' }),
    require: z
      .object({
        op: z
          .enum(['at_most', 'at_least', 'equals', 'at_least_level', 'one_of'])
          .openapi({ description: 'How the value is compared.' }),
        value: z.union([value, z.array(z.string())]).openapi({ description: 'What it is compared with.' }),
      })
      .nullable()
      .openapi({ description: 'What the law requires; null where that is no single value.' }),
    unit: z
      .enum(['day', 'hour', 'month', 'year'])
      .nullable()
      .openapi({ description: 'The unit of the values.' }),
    says: z.string().openapi({ description: 'What the law says, in words.' }),
    when: z.string().nullable().openapi({ description: 'The condition under which the rule holds.' }),
    applies_from: z.string().nullable().openapi({ description: 'The day from which it holds.' }),
    citation: citationSchema,
  })
  .openapi('RosettaTerm', { description: 'A term, what the policy says of it and what the law does.' });

const conceptSchema = z
  .object({
    concept: z.string().openapi({ description: 'The concept.' }),
    outcome: z
      .enum(['same', 'stricter', 'no_equivalent', 'decide', 'maps'])
      .openapi({ description: 'What the comparison comes to.' }),
    equivalent: z
      .enum(['full', 'partial', 'none'])
      .openapi({ description: 'Whether the concept is there too.' }),
    summary: z.string().openapi({ description: 'How the target treats the concept, in words.' }),
    from: z.array(citationSchema).openapi({ description: 'Where the policy’s own jurisdiction says so.' }),
    to: z.array(citationSchema).openapi({ description: 'Where the target says so.' }),
    maps: z.array(termLineSchema).openapi({ description: 'Terms that the policy meets there.' }),
    stricter: z.array(termLineSchema).openapi({ description: 'Terms that the target is stricter on.' }),
    no_equivalent: z.array(z.string()).openapi({ description: 'Terms that the target does not know.' }),
    decide: z
      .array(
        z.object({
          reason: z
            .enum(['standard', 'unstated', 'voluntary', 'condition', 'choice', 'question', 'unchecked'])
            .openapi({ description: 'Why a person must decide.' }),
          term: z.string().nullable().openapi({ description: 'The term that it is of, if it is of one.' }),
          question: z.string().openapi({ description: 'What is to be decided.' }),
          citation: z
            .union([citationSchema, z.null()])
            .openapi({ description: 'Where the law says so, if it does.' }),
        }),
      )
      .openapi({ description: 'What a person must decide.' }),
    confidence: z
      .enum(['settled', 'in_motion', 'needs_person'])
      .openapi({ description: 'How sure the entry of the table is.' }),
    note: z.string().nullable().openapi({ description: 'What else there is to know.' }),
    as_of: z.string().openapi({ description: 'The day of the entry.' }),
    checked: z
      .looseObject({ by_person: z.boolean().openapi({ description: 'Whether a person has checked it.' }) })
      .openapi({ description: 'Who has checked the entry.' }),
  })
  .openapi('RosettaConcept', { description: 'A concept of the policy in a target.' });

const normalizedSchema = z
  .object({
    type: z.literal('svc-rosetta-v1').openapi({ description: 'Always this.' }),
    notice: z.string().openapi({ description: 'That this is not legal advice.' }),
    jurisdiction: z.string().openapi({ description: 'For which the policy was made.' }),
    crosswalk: z
      .object(tableMembers)
      .openapi({ description: 'The table that the policy was compared with.' }),
    policy: z.array(statementSchema).openapi({ description: 'The policy as it was understood.' }),
    unknown: z
      .array(
        z.object({
          concept: z.string().openapi({ description: 'The concept.' }),
          term: z.string().nullable().openapi({ description: 'The term, if the concept is known.' }),
          reason: z
            .enum(['unknown_concept', 'unknown_term', 'unknown_value'])
            .openapi({ description: 'What of it is not known.' }),
          expected: z.string().openapi({ description: 'What would be.' }),
          did_you_mean: z.string().nullable().openapi({ description: 'What is near it.' }),
        }),
      )
      .openapi({ description: 'What is not known; it is never guessed.' }),
    targets: z
      .array(
        z.object({
          jurisdiction: z.string().openapi({ description: 'The id of the target.' }),
          name: z.string().openapi({ description: 'Its name.' }),
          policy: z.array(statementSchema).openapi({ description: 'The policy that would do there.' }),
          concepts: z.array(conceptSchema).openapi({ description: 'Each concept, compared.' }),
          unstated: z.array(z.string()).openapi({
            description: 'Concepts that the target has rules for and the policy does not state.',
          }),
        }),
      )
      .openapi({ description: 'The targets.' }),
    svc: z.object({ receipt: envelopeSchema }).openapi({ description: 'The receipt of the answer.' }),
  })
  .openapi('RosettaAnswer', { description: 'A policy, expressed for other jurisdictions.' });

function normalization(services: Needs): Endpoint {
  const { config, store, clock, clients, callers } = services;
  return endpoint({
    method: 'post',
    path: ROUTE,
    operationId: 'normalizePolicy',
    credentials: ['partnerKey'],
    group: GROUP,
    summary: 'Express a policy for other jurisdictions',
    description:
      'Compares what a policy states with a curated table of laws. The answer lists for each target what maps, what is stricter there, what has no equivalent and what a person must decide. Concepts, terms and values that are not known are listed in `unknown`, never guessed. **This is not legal advice**, and no entry of the table has been checked by a person unless it says so. `svc.receipt` covers the answer without `svc`, the request, and the policy as understood.',
    availability: 'pilot',
    headers: {
      ...PARTNER_HEADERS,
      'Idempotency-Key': MINT_HEADERS['Idempotency-Key'],
      'X-Agent-DID': MINT_HEADERS['X-Agent-DID'],
    },
    body: z.strictObject({
      jurisdiction: z
        .string()
        .openapi({ description: 'The jurisdiction for which the policy was written.', example: 'eu' }),
      policy: z
        .array(statement)
        .min(1)
        .max(50)
        .openapi({ description: 'Each concept at most once; the order does not matter.' }),
      targets: z
        .array(z.string())
        .min(1)
        .max(50)
        .openapi({ description: 'The jurisdictions to express the policy for.' }),
    }),
    example: {
      jurisdiction: 'eu',
      policy: [
        { concept: 'retention', days: 400, delete_when_purpose_ends: true },
        { concept: 'incident_notice', authority_hours: 72 },
      ],
      targets: ['uk', 'in'],
    },
    answers: { 200: { description: 'The policy, for each target', schema: normalizedSchema } },
    errors: [
      ...PARTNER_ERRORS,
      'unknown_jurisdiction',
      'conflicting_fields',
      'idempotency_key_invalid',
      'idempotency_key_reused',
      'unavailable',
    ],
    admit: (call) => callers.admit(call, 'partnerKey'),
    async handle(call) {
      const { incoming, body } = call;
      const origin = agentHeader(incoming);
      const claimed = { route: ROUTE, body: body as JsonValue };
      const claim = idempotencyClaim(incoming, { ...claimed, caller: clients.scope(incoming), now: clock() });
      const earlier = await replayOf(store, claim, clock());
      if (earlier !== null) return answered(earlier.response, true);
      const { crosswalk } = await import('../pilots/rosetta/crosswalk.ts');
      const { normalize } = await import('../pilots/rosetta/normalize.ts');
      const answer = normalize(crosswalk(), body);
      const facts = {
        request: body,
        policy: answer.policy,
        answer,
        purpose: 'rosetta.normalize',
        origin,
        operator: config.operator,
      };
      const { text, replayed } = await receiptAnswer(services, facts, claim);
      return answered(text, replayed);
    },
  });
}

function answered(body: string, replayed: boolean) {
  return text(body, 'application/json', { headers: replayed ? { 'idempotency-replayed': 'true' } : {} });
}

function crosswalkRead(): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/rosetta/crosswalk',
    operationId: 'getCrosswalk',
    group: GROUP,
    summary: 'Read the crosswalk',
    description:
      'The whole table that policies are compared with: the terms of each concept, the instruments, and for each jurisdiction and concept its rules and citations. Needs no key. Not legal advice; each entry says whether a person has checked it.',
    availability: 'pilot',
    answers: {
      200: {
        description: 'The crosswalk, with its digest over the JCS of `crosswalk`',
        schema: z
          .object({
            ...tableMembers,
            notice: z.string().openapi({ description: 'That this is not legal advice.' }),
            crosswalk: z.looseObject({}).openapi({ description: 'The table itself.' }),
          })
          .openapi('RosettaCrosswalk', { description: 'The table that policies are compared with.' }),
      },
    },
    async handle() {
      const { crosswalk } = await import('../pilots/rosetta/crosswalk.ts');
      const { NOTICE } = await import('../pilots/rosetta/normalize.ts');
      const { version, digest, asOf, entries, checkedByPerson, document } = crosswalk();
      return json({
        version,
        digest,
        as_of: asOf,
        entries,
        checked_by_person: checkedByPerson,
        notice: NOTICE,
        crosswalk: document,
      });
    },
  });
}
