import { z } from '@hono/zod-openapi';
import { AGENT_HEADERS, CALLER_ERRORS } from '@tallystick/callers';
import { formatUsdc } from '@tallystick/ledger';
import type { ListedSession } from '@tallystick/receipts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { EXPORT_TYPES, listAnswer, listQuery, pageSchema, timeOf } from '../http/list.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { keyFilter, keyOf, whoseOf } from './compute-calls.ts';
import { count, dollars, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'clock' | 'store' | 'callers'>;

const sessionSchema = z
  .object({
    session: z.string().openapi({
      description: 'Its id: the `svc.session` of its calls, or the `session_id` that it was opened with.',
      example: '5f0c1b2a9d8e7f60112233445566778a',
    }),
    at: timestamp.openapi({ description: 'When its first call ended or its first receipt was issued.' }),
    last_at: timestamp.openapi({
      description: 'When its last call ended or its last receipt was issued, so far.',
    }),
    calls: count.openapi({ description: 'Calls of models under its id.' }),
    errors: count.openapi({ description: 'Calls among them that went wrong.' }),
    receipts: count.openapi({
      description: 'Receipts of the session that the service signed; 0 where it was not opened here.',
    }),
    tool_calls: count.openapi({ description: 'Receipts among them of calls of tools.' }),
    cost_usdc: dollars.openapi({ description: 'What its calls and its receipts cost.' }),
  })
  .openapi('ListedSession', { description: 'A session in a list.' });

/** The caller's own sessions: those of its calls of models, and those that the service signs. */
export function sessionListRoutes({ callers, store, clock }: Needs): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/v1/sessions',
      operationId: 'listSessions',
      credentials: ACCOUNT_CREDENTIALS,
      group: 'Sessions',
      summary: 'List your sessions',
      description:
        'The sessions of the caller’s calls of models (`svc.session`) and those that the service signs (`POST /v1/sessions`), a session that is both once. The one that began last comes first; `from` and `to` are times of the beginning. A session is in the list, and its sums are right, a second or two after a step. With `format`, every session that matches is streamed as a file.',
      availability: 'live',
      headers: { Authorization: 'Optional: `Bearer` and an API key.', ...AGENT_HEADERS },
      query: z.strictObject({ ...listQuery, key: keyFilter }),
      answers: {
        200: { description: 'The sessions', schema: pageSchema(sessionSchema), otherwise: EXPORT_TYPES },
      },
      errors: CALLER_ERRORS,
      admit: callers.admitCaller,
      async handle(call) {
        const whose = await whoseOf({ callers }, call);
        const key = keyOf(whose, call.query.key);
        const now = Math.floor(clock() / 1_000);
        return listAnswer(call.query, {
          name: 'sessions',
          read: async (page) =>
            key === false ? [] : store.sessionList.page({ ...page, owner: whose.owner, key, now }),
          placeOf: ({ at, id }) => ({ at, id }),
          show: sessionDocument,
          columns: Object.keys(sessionSchema.shape),
        });
      },
    }),
  ];
}

function sessionDocument(row: ListedSession) {
  return {
    session: row.id,
    at: timeOf(row.at),
    last_at: timeOf(row.lastAt),
    calls: row.calls,
    errors: row.errors,
    receipts: row.receipts,
    tool_calls: row.toolCalls,
    cost_usdc: formatUsdc(row.cost),
  };
}
