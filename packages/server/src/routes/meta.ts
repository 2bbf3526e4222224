import { z } from '@hono/zod-openapi';
import { Registry } from 'prom-client';
import { type Answer, json, text } from '../http/answer.ts';
import type { Api } from '../http/api.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';

export interface MetaServices {
  /** The API that these routes describe and are part of. */
  readonly api: Pick<Api, 'document'>;
  /** The metrics of all processes that share the port, in Prometheus’ text exposition format. */
  readonly exposition: () => Promise<string>;
  /** The state of each part of the service: `ok`, or what is wrong with it. */
  readonly ready: () => Promise<Record<string, string>>;
}

const GROUP = 'Operations';

/** The endpoints that describe the service and its state. */
export function metaRoutes({ api, exposition, ready }: MetaServices): Endpoint[] {
  return [health(), readiness(ready), measurements(exposition), openApi(api)];
}

function health(): Endpoint {
  return endpoint({
    method: 'get',
    path: '/healthz',
    operationId: 'getHealth',
    group: GROUP,
    summary: 'Check that the process is alive',
    description: 'Answers without touching any other part of the service. For a liveness probe.',
    availability: 'live',
    answers: {
      200: {
        description: 'The process is alive',
        schema: z.object({ status: z.literal('ok').describe('Always this.') }),
      },
    },
    handle: () => json({ status: 'ok' }, { headers: { 'cache-control': 'no-store' } }),
  });
}

function readiness(ready: MetaServices['ready']): Endpoint {
  const schema = z.object({
    status: z.enum(['ok', 'unavailable']).describe('Whether all of them are well.'),
    checks: z
      .record(z.string(), z.string())
      .describe('Each part that the service needs: `ok`, or what is wrong with it.'),
  });
  return endpoint({
    method: 'get',
    path: '/readyz',
    operationId: 'getReadiness',
    group: GROUP,
    summary: 'Check that requests can be served',
    description: 'Checks each part that the service needs. For a readiness probe.',
    availability: 'live',
    answers: {
      200: { description: 'Every part works', schema },
      503: { description: 'Some part does not work', schema },
    },
    async handle() {
      const checks = await ready();
      const well = Object.values(checks).every((state) => state === 'ok');
      return json(
        { status: well ? 'ok' : 'unavailable', checks },
        { status: well ? 200 : 503, headers: { 'cache-control': 'no-store' } },
      );
    },
  });
}

function measurements(exposition: MetaServices['exposition']): Endpoint {
  return endpoint({
    method: 'get',
    path: '/metrics',
    operationId: 'getMetrics',
    group: GROUP,
    summary: 'Read metrics for Prometheus',
    availability: 'live',
    answers: {
      200: { description: 'The text exposition format', schema: z.string(), contentType: 'text/plain' },
    },
    async handle() {
      return text(await exposition(), Registry.PROMETHEUS_CONTENT_TYPE, {
        headers: { 'cache-control': 'no-store' },
      });
    },
  });
}

function openApi(api: MetaServices['api']): Endpoint {
  const cached = once(() => json(api.document(), { headers: { 'cache-control': 'public, max-age=300' } }));
  return endpoint({
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApiDocument',
    group: GROUP,
    summary: 'Read this API as OpenAPI 3.1',
    availability: 'live',
    answers: { 200: { description: 'The document', schema: z.looseObject({}) } },
    handle: cached,
  });
}

/** Keeps the first result. It is called only after all endpoints are mounted. */
function once(make: () => Answer): () => Answer {
  let made: Answer | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
