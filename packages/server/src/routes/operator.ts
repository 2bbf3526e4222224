import { z } from '@hono/zod-openapi';
import { OPERATOR_ERRORS, OPERATOR_HEADERS } from '@tallystick/callers';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { rest, resume, type Target } from '../overview/orders.ts';
import { overview } from '../overview/overview.ts';
import type { Services } from '../services.ts';
import { overviewSchema } from './operator-shapes.ts';
import { timestamp } from './shapes.ts';

const GROUP = 'Operator';
const CREDENTIALS = ['operatorKey'] as const;
const PRIVATE = { headers: { 'cache-control': 'private, no-store', vary: 'Authorization' } };
const MAX_REST_SECONDS = 604_800;

const rested = z
  .array(z.string())
  .openapi({ description: 'Ids of the models that are meant: all of a provider, or the one.' });

/** How the whole service is, and rests by order: for its operator. */
export function operatorRoutes(services: Services): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/operator/overview',
      operationId: 'getOperatorOverview',
      credentials: CREDENTIALS,
      group: GROUP,
      summary: 'Read how the whole service is',
      description:
        'Health, queues, providers and models, the catalogue, refunds that wait, webhooks, and the log with its witnesses. Nothing of what callers send or get is in it.',
      availability: 'live',
      headers: OPERATOR_HEADERS,
      answers: { 200: { description: 'How it is', schema: overviewSchema } },
      errors: [...OPERATOR_ERRORS, 'unavailable'],
      admit: services.operators,
      handle: async () => json(await overview(services), PRIVATE),
    }),
    ...orderRoutes(services, {
      kind: 'provider',
      path: '/v1/operator/providers/{id}',
      example: 'local',
      names: ['restProvider', 'resumeProvider'],
      what: 'the models of a provider',
    }),
    ...orderRoutes(services, {
      kind: 'model',
      path: '/v1/operator/models/{id}',
      example: 'local/extract-1',
      names: ['restModel', 'resumeModel'],
      what: 'a model',
    }),
  ];
}

interface OrderDefinition {
  readonly kind: Target['kind'];
  readonly path: string;
  readonly example: string;
  readonly names: readonly [rest: string, resume: string];
  readonly what: string;
}

function orderRoutes(services: Services, { kind, path, example, names, what }: OrderDefinition): Endpoint[] {
  const description =
    kind === 'model' ? 'Id of the model. Its slash is written as %2F.' : 'Name of the provider.';
  const params = z.strictObject({ id: z.string().openapi({ description, example }) });
  const errors = [
    ...OPERATOR_ERRORS,
    kind === 'model' ? ('model_not_found' as const) : ('not_found' as const),
    'unavailable' as const,
  ];
  const shared = {
    method: 'post',
    credentials: CREDENTIALS,
    group: GROUP,
    availability: 'live',
    headers: OPERATOR_HEADERS,
    params,
    errors,
    admit: services.operators,
  } as const;
  return [
    endpoint({
      ...shared,
      path: `${path}/rest`,
      operationId: names[0],
      summary: `Give ${what} a rest`,
      description:
        'No process of the service calls them until the time is over or they are resumed. It holds within a second everywhere; calls under way end as they began. The service’s log says which key did it.',
      body: z.strictObject({
        seconds: z
          .int()
          .min(1)
          .max(MAX_REST_SECONDS)
          .openapi({
            description: `How long, at most ${MAX_REST_SECONDS} (seven days).`,
            example: 600,
          }),
      }),
      example: { seconds: 600 },
      answers: {
        200: {
          description: 'They rest',
          schema: z
            .object({ models: rested, until: timestamp.openapi({ description: 'When it ends.' }) })
            .openapi('OperatorRest', { description: 'A rest by order of the operator.' }),
        },
      },
      handle: async ({ admitted, params: { id }, body: { seconds } }) =>
        json(await rest(services, { target: { kind, id }, by: admitted.id, seconds }), PRIVATE),
    }),
    endpoint({
      ...shared,
      path: `${path}/resume`,
      operationId: names[1],
      summary: `Call ${what} again`,
      description:
        'Ends every rest of them in all processes: those by order, and those that followed from failures.',
      answers: {
        200: {
          description: 'They are called again',
          schema: z
            .object({ models: rested })
            .openapi('OperatorResume', { description: 'Models that are called again.' }),
        },
      },
      handle: async ({ admitted, params: { id } }) =>
        json(await resume(services, { target: { kind, id }, by: admitted.id }), PRIVATE),
    }),
  ];
}
