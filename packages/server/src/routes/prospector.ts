import { z } from '@hono/zod-openapi';
import type { JsonObject } from '@tallystick/core';
import { PARTNER_ERRORS, PARTNER_HEADERS } from '../api-keys/authenticate.ts';
import { json } from '../http/answer.ts';
import { clientSignal } from '../http/disconnect.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { createGate } from '../prospector/gate.ts';
import type { Services } from '../services.ts';

const DEADLINE_MS = 25_000;
const PER_PARTNER = 2;
const TOGETHER = 8;
/** Of a document that is looked at. */
const MAX_ANSWER_BYTES = 2 * 1_048_576;

/** The readiness check (specification 4.1). What it is made of is loaded with the first request. */
export function prospectorRoutes(services: Pick<Services, 'config' | 'clock' | 'apiKeys'>): Endpoint[] {
  return [qualification(services)];
}

const evidenceSchema = z
  .object({
    method: z.string(),
    url: z.string(),
    status: z.int().nullable().openapi({ description: 'Null if no answer came.' }),
    excerpt: z.string().openapi({ description: 'At most 200 bytes of the body, secrets taken out.' }),
  })
  .openapi('ReadinessEvidence');

const areaSchema = z.object({
  area: z.string().openapi({ example: 'receipts' }),
  weight: z.int(),
  state: z.enum(['passed', 'found', 'not_checked']),
  score: z.int().nullable().openapi({ description: '0 to 100; null if the area was not checked.' }),
  notes: z.array(z.string()).openapi({ description: 'The checks that passed.' }),
});

const findingSchema = z.object({
  code: z.string().openapi({ description: 'Stable.', example: 'trust_expired' }),
  area: z.string(),
  severity: z.enum(['critical', 'major', 'minor']),
  title: z.string(),
  detail: z.string(),
  fix: z.string(),
  evidence: z.array(evidenceSchema),
});

const reportSchema = z
  .object({
    type: z.literal('svc-readiness-v1'),
    origin: z.string(),
    checked_at: z.string(),
    verdict: z
      .enum(['ready', 'gaps', 'not_ready'])
      .openapi({ description: '`ready`: 80 or more, nothing critical; `gaps`: nothing critical.' }),
    score: z.int().openapi({ description: '0 to 100, over the areas that were checked.' }),
    coverage: z
      .int()
      .openapi({ description: 'The total weight of the areas that were checked, out of 100.' }),
    complete: z.boolean().openapi({ description: 'Whether there was enough time for every check.' }),
    areas: z.array(areaSchema),
    findings: z.array(findingSchema).openapi({ description: 'The findings, most serious first.' }),
    trust_note: z.string(),
  })
  .openapi('Readiness');

function qualification({ config, clock, apiKeys }: Pick<Services, 'config' | 'clock' | 'apiKeys'>): Endpoint {
  const gate = createGate({ perPartner: PER_PARTNER, together: TOGETHER });
  return endpoint({
    method: 'post',
    path: '/v1/prospector/qualify',
    group: 'Prospector',
    summary: 'Check whether an AI transaction surface is ready',
    description:
      'Checks an origin from outside, with about twenty requests that anyone could send: TLS, well-known documents, OpenAPI, keys, receipts and their verification, the Model Context Protocol, the x402 challenge, headers, limits and errors. It mints one receipt if the surface offers that for free, pays nothing and shows no credential. Only public addresses are called, by https on port 443 or 80; in development also this machine. docs/prospector.md lists every finding and explains the score.',
    availability: 'pilot',
    headers: PARTNER_HEADERS,
    body: z.strictObject({
      origin: z
        .string()
        .max(300)
        .optional()
        .openapi({ description: 'Scheme, host and optionally a port. Give either this or `descriptor`.' }),
      descriptor: z.looseObject({}).optional().openapi({
        description:
          'A descriptor (specification 2.11) that names its origin in `origin` or `agent_onboarding.base_url`, and places in `endpoints`: `{"mcp": "POST /mcp"}`.',
      }),
    }),
    answers: { 200: { description: 'Score, areas and findings', schema: reportSchema } },
    errors: [...PARTNER_ERRORS, 'conflicting_fields', 'rate_limited'],
    admit: (call) => apiKeys.requirePartner(call),
    async handle(call) {
      const { readTarget } = await import('../prospector/surface.ts');
      const { origin, descriptor } = call.body;
      const target = readTarget({
        ...(origin === undefined ? {} : { origin }),
        ...(descriptor === undefined ? {} : { descriptor: descriptor as JsonObject }),
      });
      const report = await gate.run(call.admitted.id, call, async () => {
        const { qualify } = await import('../prospector/qualify.ts');
        const { createGuardedFetch } = await import('../http/guarded/guarded-fetch.ts');
        const { guardPolicy } = await import('../http/guarded/policy.ts');
        const fetch = createGuardedFetch({
          policy: guardPolicy(config),
          limits: { bodyBytes: MAX_ANSWER_BYTES },
        });
        return qualify(target, {
          fetch,
          now: clock(),
          signal: clientSignal(call.c),
          deadlineMs: DEADLINE_MS,
        });
      });
      return json(report, { headers: { 'cache-control': 'no-store' } });
    },
  });
}
