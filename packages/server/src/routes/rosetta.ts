import { z } from '@hono/zod-openapi';
import type { JsonValue } from '@tallystick/core';
import { agentHeader } from '../agents/agent-header.ts';
import { PARTNER_ERRORS, PARTNER_HEADERS } from '../api-keys/authenticate.ts';
import { json, text } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { idempotencyClaim, replayOf } from '../http/idempotency.ts';
import { receiptAnswer } from '../receipts/answered.ts';
import type { Services } from '../services.ts';
import { MINT_HEADERS } from './minted.ts';
import { receiptSchema } from './shapes.ts';

const GROUP = 'Rosetta';
const ROUTE = '/v1/rosetta/normalize';
/** Of a statement: no concept has nearly as many terms. */
const MAX_MEMBERS = 32;

/** Policies across jurisdictions (specification 4.1). The crosswalk is loaded with the first request. */
export function rosettaRoutes(services: Services): Endpoint[] {
  return [normalization(services), crosswalkRead()];
}

const statementSchema = z
  .looseObject({ concept: z.string().min(1).max(100).openapi({ example: 'retention' }) })
  .openapi({
    description: 'A concept, and what the policy states about it in the terms of GET /v1/rosetta/crosswalk.',
  });

const statement = statementSchema.refine(
  (said) => Object.keys(said).length <= MAX_MEMBERS,
  `A statement has at most ${MAX_MEMBERS} members`,
);

const citationSchema = z
  .object({
    label: z.string().openapi({ example: 'GDPR Art. 5(1)(e)' }),
    instrument: z.string(),
    title: z.string(),
    article: z.string(),
    section: z.string().nullable(),
    year: z.int(),
    force: z.enum(['binding', 'voluntary']),
  })
  .openapi('Citation');

const value = z.union([z.number(), z.boolean(), z.string()]);

const termLineSchema = z
  .object({
    term: z.string(),
    value: value.nullable(),
    require: z
      .object({
        op: z.enum(['at_most', 'at_least', 'equals', 'at_least_level', 'one_of']),
        value: z.union([value, z.array(z.string())]),
      })
      .nullable(),
    unit: z.enum(['day', 'hour', 'month', 'year']).nullable(),
    says: z.string(),
    when: z.string().nullable().openapi({ description: 'The condition under which the rule holds.' }),
    applies_from: z.string().nullable(),
    citation: citationSchema,
  })
  .openapi('RosettaTerm');

const conceptSchema = z
  .object({
    concept: z.string(),
    outcome: z.enum(['same', 'stricter', 'no_equivalent', 'decide', 'maps']),
    equivalent: z.enum(['full', 'partial', 'none']),
    summary: z.string(),
    from: z.array(citationSchema),
    to: z.array(citationSchema),
    maps: z.array(termLineSchema),
    stricter: z.array(termLineSchema),
    no_equivalent: z.array(z.string()),
    decide: z.array(
      z.object({
        reason: z.enum(['standard', 'unstated', 'voluntary', 'condition', 'choice', 'question', 'unchecked']),
        term: z.string().nullable(),
        question: z.string(),
        citation: z.union([citationSchema, z.null()]),
      }),
    ),
    confidence: z.enum(['settled', 'in_motion', 'needs_person']),
    note: z.string().nullable(),
    as_of: z.string(),
    checked: z.looseObject({ by_person: z.boolean() }),
  })
  .openapi('RosettaConcept');

const normalizedSchema = z
  .object({
    type: z.literal('svc-rosetta-v1'),
    notice: z.string(),
    jurisdiction: z.string(),
    crosswalk: z.object({
      version: z.string(),
      digest: z.string(),
      as_of: z.string(),
      entries: z.int(),
      checked_by_person: z.int(),
    }),
    policy: z.array(statementSchema),
    unknown: z.array(
      z.object({
        concept: z.string(),
        term: z.string().nullable(),
        reason: z.enum(['unknown_concept', 'unknown_term', 'unknown_value']),
        expected: z.string(),
        did_you_mean: z.string().nullable(),
      }),
    ),
    targets: z.array(
      z.object({
        jurisdiction: z.string(),
        name: z.string(),
        policy: z.array(statementSchema),
        concepts: z.array(conceptSchema),
        unstated: z.array(z.string()),
      }),
    ),
    svc: z.object({ receipt: receiptSchema }),
  })
  .openapi('RosettaAnswer');

function normalization(services: Services): Endpoint {
  const { config, store, clock, clients, apiKeys } = services;
  return endpoint({
    method: 'post',
    path: ROUTE,
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
    admit: (call) => apiKeys.requirePartner(call),
    async handle(call) {
      const { c, body } = call;
      const origin = agentHeader(c);
      const claimed = { route: ROUTE, body: body as JsonValue };
      const claim = idempotencyClaim(c, { ...claimed, caller: clients.scope(c), now: clock() });
      const earlier = await replayOf(store, claim, clock());
      if (earlier !== null) return answered(earlier.response, true);
      const { crosswalk } = await import('../rosetta/crosswalk.ts');
      const { normalize } = await import('../rosetta/normalize.ts');
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
            version: z.string(),
            digest: z.string().openapi({ description: '`sha256:` and hex.' }),
            as_of: z.string(),
            entries: z.int(),
            checked_by_person: z.int(),
            notice: z.string(),
            crosswalk: z.looseObject({}),
          })
          .openapi('RosettaCrosswalk'),
      },
    },
    async handle() {
      const { crosswalk } = await import('../rosetta/crosswalk.ts');
      const { NOTICE } = await import('../rosetta/normalize.ts');
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
