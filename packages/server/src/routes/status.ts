import { z } from '@hono/zod-openapi';
import { STATUS_STATES, TallyError } from '@tallystick/core';
import { text } from '../http/answer.ts';
import { header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { consoleAnswer } from './console.ts';
import { count, didText, hexDigest, publicKeyText, signatureText, timestamp } from './shapes.ts';

const endpointSchema = z
  .object({
    name: z.string().openapi({ description: 'Its name here.' }),
    method: z.enum(['GET', 'POST']).openapi({ description: 'The method of the request.' }),
    path: z.string().openapi({ description: 'The path of the request.' }),
    availability: z.enum(['live', 'pilot']).openapi({ description: 'Whether it is a pilot.' }),
    probe: z.enum(['answer', 'refusal']).openapi({
      description:
        '`answer`: the probe’s request was served in full. `refusal`: the endpoint refused the probe’s request, as it must.',
    }),
    state: z.enum(STATUS_STATES).openapi({ description: 'How it is.' }),
    code: z.string().openapi({ description: '`ok`, or what was wrong.' }),
    latency_ms: z.number().nullable().openapi({ description: 'The median of the newest `samples`.' }),
    samples: count.openapi({ description: 'How many of the newest answers are looked at.' }),
    checked_at: timestamp.openapi({ description: 'When it was asked last.' }),
    since: timestamp.openapi({ description: 'When the endpoint or model entered this `state`.' }),
  })
  .openapi('StatusEndpoint', { description: 'How an endpoint is.' });

const modelSchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the provider or model.' }),
    state: z.enum(STATUS_STATES).openapi({ description: '`unknown` if nobody called it lately.' }),
    code: z.string().openapi({ description: '`ok`, or what was wrong.' }),
    since: timestamp.openapi({ description: 'When the endpoint or model entered this `state`.' }),
    warning: z.enum(['retires_soon', 'price_old']).optional().openapi({
      description:
        'Only of a model, where there is one: its provider shuts it down within a month, or its price was read more than 90 days ago.',
    }),
  })
  .openapi('StatusModel', { description: 'How a provider or a model is.' });

const statusSchema = z
  .looseObject({
    type: z.literal('svc-status-v1').openapi({ description: 'Always this.' }),
    version: z.literal(1).openapi({ description: 'The version of the format.' }),
    sequence: count.openapi({ description: 'Each document has the next number.' }),
    previous_sha256: z.string().nullable().openapi({
      pattern: '^(sha256:)?[0-9a-f]{64}$',
      description: 'The hash of the document before; null for the first.',
    }),
    issued_at: timestamp.openapi({ description: 'When it was signed.' }),
    valid_until: timestamp.openapi({ description: 'From then on it says nothing of the present.' }),
    service: z.string().openapi({ description: 'Name and version of the software.' }),
    endpoints: z.array(endpointSchema).openapi({ description: 'The endpoints.' }),
    providers: z.array(modelSchema).openapi({ description: 'The providers of models.' }),
    models: z.array(modelSchema).openapi({ description: 'The models.' }),
    log: z
      .object({
        checkpoint: z
          .object({
            origin: z.string().openapi({ description: 'The name of the log.' }),
            size: count.openapi({ description: 'Number of its leaves.' }),
            root: hexDigest.openapi({ description: 'Its root hash.' }),
          })
          .nullable()
          .openapi({ description: 'The newest checkpoint; null before the first.' }),
        accepted: count.openapi({ description: 'Hashes that have a place.' }),
        anchored: count.openapi({ description: 'Of them, how many are final on the chain.' }),
        oldest_unanchored_seconds: z.int().nullable().openapi({
          description: 'The longest time that the oldest unanchored hash can have waited.',
        }),
      })
      .openapi({ description: 'The anchor log.' }),
    issuer_did: didText.openapi({ description: 'The service.' }),
    issuer_pubkey: publicKeyText,
    key_id: didText.openapi({ description: 'The id of the status key.' }),
    sig_b64u: signatureText,
  })
  .openapi('Status', { description: 'How the service is, signed (spec/status.md).' });

/** The service's signed status (specification 4.1; spec/status.md). */
export function statusRoutes(services: Pick<Services, 'status'>): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/status',
      operationId: 'getStatus',
      group: 'Operations',
      summary: 'Read the signed status',
      description:
        'The state of the service’s endpoints, each of which the service calls every minute; of providers and models, by the outcome of their recent calls; the newest checkpoint; and how long the oldest hash has waited for its anchor. The document is signed with the service’s status key, numbered and chained, so that an outdated status, or a second one with the same number, is detected: `tally status --verify`. A client whose `Accept` names `text/html` gets the page that shows the status.',
      availability: 'live',
      headers: {
        Accept: '`text/html` for the page.',
        'If-None-Match': 'An `ETag` of the page: the answer is 304 if it has not changed.',
      },
      answers: {
        200: {
          description: 'The signed document',
          schema: statusSchema,
          otherwise: { 'text/html': z.string().openapi({ description: 'The page that shows it.' }) },
          headers: { ETag: 'Of the page alone: changes when it changes.' },
        },
        304: { description: 'The page has not changed' },
      },
      errors: ['unavailable'],
      async handle({ c, headers }) {
        headers['vary'] = 'Accept';
        if (wantsPage(header(c, 'accept'))) return consoleAnswer(c);
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
