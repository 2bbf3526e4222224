import { z } from '@hono/zod-openapi';
import { STATUS_STATES, TallyError } from '@tallystick/core';
import { text } from '../http/answer.ts';
import { header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { pageAnswer } from './pages.ts';

const endpointSchema = z
  .object({
    name: z.string(),
    method: z.enum(['GET', 'POST']),
    path: z.string(),
    availability: z.enum(['live', 'pilot']),
    probe: z.enum(['answer', 'refusal']).openapi({
      description:
        '`answer`: a whole request was served. `refusal`: one was refused at the gate, as it must be.',
    }),
    state: z.enum(STATUS_STATES),
    code: z.string().openapi({ description: '`ok`, or what was wrong.' }),
    latency_ms: z.number().nullable().openapi({ description: 'The median of the newest `samples`.' }),
    samples: z.int(),
    checked_at: z.string(),
    since: z.string().openapi({ description: 'When `state` became what it is.' }),
  })
  .openapi('StatusEndpoint');

const modelSchema = z
  .object({
    id: z.string(),
    state: z.enum(STATUS_STATES).openapi({ description: '`unknown` where nobody called it lately.' }),
    code: z.string().openapi({ description: '`ok`, or what was wrong.' }),
    since: z.string().openapi({ description: 'When `state` became what it is.' }),
  })
  .openapi('StatusModel');

const statusSchema = z
  .looseObject({
    type: z.literal('svc-status-v1'),
    version: z.literal(1),
    sequence: z.int(),
    previous_sha256: z.string().nullable(),
    issued_at: z.string(),
    valid_until: z.string(),
    service: z.string(),
    endpoints: z.array(endpointSchema),
    providers: z.array(modelSchema),
    models: z.array(modelSchema),
    log: z.object({
      checkpoint: z.object({ origin: z.string(), size: z.int(), root: z.string() }).nullable(),
      accepted: z.int(),
      anchored: z.int(),
      oldest_unanchored_seconds: z.int().nullable().openapi({
        description: 'The most that the oldest hash that is not anchored can have waited.',
      }),
    }),
    issuer_did: z.string(),
    issuer_pubkey: z.string(),
    key_id: z.string(),
    sig_b64u: z.string(),
  })
  .openapi('Status');

/** How the service is, signed (specification 4.1; spec/status.md). */
export function statusRoutes(services: Pick<Services, 'status' | 'config' | 'trust'>): Endpoint[] {
  const page = pageAnswer(services, 'status.html');
  return [
    endpoint({
      method: 'get',
      path: '/status',
      group: 'Operations',
      summary: 'How the endpoints are, signed',
      description:
        'Seventeen endpoints, each really asked once a minute, the providers and models by how their calls ended lately, the newest checkpoint and how long the oldest hash waits for its anchor. Signed with the service’s status key, numbered and chained, so that an old answer, or another one of the same number, is noticed: `tally status --verify`. To a client whose `Accept` names `text/html`, the page that shows it.',
      availability: 'live',
      headers: { Accept: '`text/html` for the page.' },
      answers: { 200: { description: 'The signed document', schema: statusSchema } },
      errors: ['unavailable'],
      async handle({ c, headers }) {
        headers['vary'] = 'Accept';
        if (wantsPage(header(c, 'accept'))) return page(c);
        try {
          return text(await services.status.newest(), 'application/json', {
            headers: { 'cache-control': 'no-cache' },
          });
        } catch (error) {
          if (error instanceof TallyError && error.code === 'unavailable') headers['retry-after'] = '60';
          throw error;
        }
      },
    }),
  ];
}

function wantsPage(accept = ''): boolean {
  return accept.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === 'text/html');
}
