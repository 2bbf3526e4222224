import { z } from '@hono/zod-openapi';
import { PARTNER_ERRORS, PARTNER_HEADERS } from '@tallystick/callers';
import type { JsonObject } from '@tallystick/core';
import { json } from '../http/answer.ts';
import { clientSignal } from '../http/disconnect.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { createGate } from '../pilots/prospector/concurrency-limit.ts';
import type { Services } from '../services.ts';
import { count, timestamp } from './shapes.ts';

const DEADLINE_MS = 25_000;
const PER_PARTNER = 2;
const TOGETHER = 8;
/** Most bytes of a document that is checked. */
const MAX_ANSWER_BYTES = 2 * 1_048_576;

/** The readiness check (specification 4.1). Its code is loaded with the first request. */
export function prospectorRoutes(services: Pick<Services, 'config' | 'clock' | 'callers'>): Endpoint[] {
  return [qualification(services)];
}

const evidenceSchema = z
  .object({
    method: z.string().openapi({ description: 'The method of the request.' }),
    url: z.string().openapi({ description: 'Its URL.' }),
    status: z.int().nullable().openapi({ description: 'Null if no answer came.' }),
    excerpt: z.string().openapi({ description: 'At most 200 bytes of the body, secrets taken out.' }),
  })
  .openapi('ReadinessEvidence', { description: 'A request that was made, and what came of it.' });

const areaSchema = z.object({
  area: z.string().openapi({ description: 'The name of the area.', example: 'receipts' }),
  weight: count.openapi({ description: 'Its weight in the score; all together have 100.' }),
  state: z.enum(['passed', 'found', 'not_checked']).openapi({ description: '`found`: there are findings.' }),
  score: z.int().nullable().openapi({ description: '0 to 100; null if the area was not checked.' }),
  notes: z.array(z.string()).openapi({ description: 'The checks that passed.' }),
});

const findingSchema = z.object({
  code: z.string().openapi({ description: 'Stable.', example: 'trust_expired' }),
  area: z.string().openapi({ description: 'The area that it is of.' }),
  severity: z.enum(['critical', 'major', 'minor']).openapi({ description: 'How grave it is.' }),
  title: z.string().openapi({ description: 'The same text whenever the code is the same.' }),
  detail: z.string().openapi({ description: 'What was found here.' }),
  fix: z.string().openapi({ description: 'What to do about it.' }),
  evidence: z.array(evidenceSchema).openapi({ description: 'The requests that show it.' }),
});

const reportSchema = z
  .object({
    type: z.literal('svc-readiness-v1').openapi({ description: 'Always this.' }),
    origin: z.string().openapi({ description: 'What was looked at.' }),
    checked_at: timestamp.openapi({ description: 'When it was looked at.' }),
    verdict: z
      .enum(['ready', 'gaps', 'not_ready'])
      .openapi({ description: '`ready`: 80 or more, nothing critical; `gaps`: nothing critical.' }),
    score: z.int().openapi({ description: '0 to 100, over the areas that were checked.' }),
    coverage: z
      .int()
      .openapi({ description: 'The total weight of the areas that were checked, out of 100.' }),
    complete: z.boolean().openapi({ description: 'Whether there was enough time for every check.' }),
    areas: z.array(areaSchema).openapi({ description: 'The areas, each with its score.' }),
    findings: z.array(findingSchema).openapi({ description: 'The findings, most serious first.' }),
    trust_note: z.string().openapi({ description: 'What the report does not say.' }),
  })
  .openapi('Readiness', { description: 'How ready a surface is (docs/prospector.md).' });

function qualification({ config, clock, callers }: Pick<Services, 'config' | 'clock' | 'callers'>): Endpoint {
  const gate = createGate({ perPartner: PER_PARTNER, together: TOGETHER });
  return endpoint({
    method: 'post',
    path: '/v1/prospector/qualify',
    operationId: 'qualifyOrigin',
    credentials: ['partnerKey'],
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
    example: { origin: 'https://api.example.com' },
    answers: { 200: { description: 'Score, areas and findings', schema: reportSchema } },
    errors: [...PARTNER_ERRORS, 'conflicting_fields', 'rate_limited'],
    admit: (call) => callers.admit(call, 'partnerKey'),
    async handle(call) {
      const { readTarget } = await import('../pilots/prospector/surface.ts');
      const { origin, descriptor } = call.body;
      const target = readTarget({
        ...(origin === undefined ? {} : { origin }),
        ...(descriptor === undefined ? {} : { descriptor: descriptor as JsonObject }),
      });
      const report = await gate.run(call.admitted.id, async () => {
        const { qualify } = await import('../pilots/prospector/qualify.ts');
        const { createGuardedFetch } = await import('@tallystick/kit');
        const { guardPolicy } = await import('@tallystick/kit');
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
