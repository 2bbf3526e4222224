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
        '`answer`: the probe’s request was served in full. `refusal`: the endpoint refused the probe’s request, as it must.',
    }),
    state: z.enum(STATUS_STATES),
    code: z.string().openapi({ description: '`ok`, or what was wrong.' }),
    latency_ms: z.number().nullable().openapi({ description: 'The median of the newest `samples`.' }),
    samples: z.int(),
    checked_at: z.string(),
    since: z.string().openapi({ description: 'When the endpoint or model entered this `state`.' }),
  })
  .openapi('StatusEndpoint');

const modelSchema = z
  .object({
    id: z.string(),
    state: z.enum(STATUS_STATES).openapi({ description: '`unknown` if nobody called it lately.' }),
    code: z.string().openapi({ description: '`ok`, or what was wrong.' }),
    since: z.string().openapi({ description: 'When the endpoint or model entered this `state`.' }),
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
        description: 'The longest time that the oldest unanchored hash can have waited.',
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
      summary: 'Read the signed status',
      description:
        'The state of the service’s endpoints, each of which the service calls every minute; of providers and models, by the outcome of their recent calls; the newest checkpoint; and how long the oldest hash has waited for its anchor. The document is signed with the service’s status key, numbered and chained, so that an outdated status, or a second one with the same number, is detected: `tally status --verify`. A client whose `Accept` names `text/html` gets the page that shows the status.',
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
