import { z } from '@hono/zod-openapi';
import { STATUS_STATES } from '@tallystick/core';
import { STATUS_KINDS } from '@tallystick/kit';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { HISTORY_DAYS, statusHistory } from '../status/history.ts';
import { count, timestamp } from './shapes.ts';

const day = z.string().openapi({ format: 'date', description: 'A day in UTC.', example: '2027-03-01' });
const uptime = z.number().nullable().openapi({
  description: 'The share of rounds that found it up or degraded, 0 to 1; null where none found its state.',
});
const subject = {
  kind: z.enum(STATUS_KINDS).openapi({ description: 'What it is.' }),
  id: z.string().openapi({ description: 'The name of the endpoint, or the id of the provider or model.' }),
};

const historySchema = z
  .object({
    from: day.openapi({ description: 'The first day.' }),
    to: day.openapi({ description: 'The last day, which is today.' }),
    subjects: z
      .array(
        z.object({
          ...subject,
          uptime,
          days: z
            .array(
              z.object({
                day,
                up: count.openapi({ description: 'Rounds that found it up.' }),
                degraded: count.openapi({ description: 'Rounds that found it degraded.' }),
                down: count.openapi({ description: 'Rounds that found it down.' }),
                unknown: count.openapi({ description: 'Rounds that could not tell.' }),
                uptime,
              }),
            )
            .openapi({ description: 'Its days, oldest first; a day without a round is left out.' }),
        }),
      )
      .openapi({ description: 'What was looked at.' }),
    incidents: z
      .array(
        z.object({
          ...subject,
          state: z.enum(STATUS_STATES).openapi({ description: 'The worst state in it.' }),
          code: z.string().openapi({ description: 'What was wrong when it began.' }),
          started_at: timestamp.openapi({ description: 'When it began.' }),
          ended_at: timestamp.nullable().openapi({ description: 'When it ended; null while it lasts.' }),
        }),
      )
      .openapi({ description: 'Times in which something was degraded or down, newest first, at most 1000.' }),
  })
  .openapi('StatusHistory', { description: 'The history of the status.' });

/** What the rounds of the status found, by day. */
export function statusHistoryRoutes({ store, clock }: Pick<Services, 'store' | 'clock'>): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/status/history',
      operationId: 'getStatusHistory',
      group: 'Operations',
      summary: 'Read the history of the status',
      description: `How often each endpoint, provider and model was found up, degraded or down on each of the last ${HISTORY_DAYS} days, with the incidents, as the service’s own rounds recorded it. It is not signed: what is signed is each newest status, at \`GET /status\`.`,
      availability: 'live',
      query: z.strictObject({
        days: z
          .string()
          .regex(/^(?:[1-9]|[1-8]\d|90)$/, `Not 1 to ${HISTORY_DAYS}`)
          .optional()
          .openapi({ description: `How many days, today included: ${HISTORY_DAYS} when absent.` }),
        kind: z
          .enum(STATUS_KINDS)
          .optional()
          .openapi({ description: 'Only of this kind; endpoints and providers when absent.' }),
      }),
      answers: { 200: { description: 'The history', schema: historySchema } },
      errors: ['unavailable'],
      async handle({ query }) {
        const kinds = query.kind === undefined ? (['endpoint', 'provider'] as const) : [query.kind];
        const days = Number(query.days ?? HISTORY_DAYS);
        const history = await statusHistory(store, { kinds, days, now: clock() });
        return json(history, { headers: { 'cache-control': 'public, max-age=60' } });
      },
    }),
  ];
}
