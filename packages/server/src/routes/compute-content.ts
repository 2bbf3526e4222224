import { z } from '@hono/zod-openapi';
import { CALLER_ERRORS, type ClientCall } from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import { callerAccount } from '@tallystick/ledger';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { timeOf } from '../http/list.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { COMPUTE } from './compute-shapes.ts';
import { timestamp } from './shapes.ts';

type Needs = Pick<Services, 'callers' | 'compute'>;

/** Prompt and answer of a call, where they are kept: to read and to delete. */
export function callContentRoutes(services: Needs): Endpoint[] {
  return [read(services), remove(services)];
}

const PARAMS = z.object({
  id: z.string().max(200).openapi({ description: 'The `id` of the call’s row: the id of its receipt.' }),
});

const part = (description: string) => z.looseObject({}).nullable().openapi({ description });

const contentSchema = z
  .object({
    kept_until: timestamp.openapi({ description: 'When it is deleted.' }),
    request: part('The body as the caller sent it; null if it is too long to be kept.'),
    sent: part(
      'The body that went to the provider, after routing and compression: in the caller’s protocol where the provider speaks it, otherwise as a chat completion. Null if it is too long to be kept.',
    ),
    answer: part(
      'The answer without `svc`. Of a stream, what was passed on, put together as one chat completion. Null if it is too long to be kept.',
    ),
  })
  .openapi('CallContent', { description: 'Prompt and answer of a call.' });

const KEPT =
  'The operator keeps prompts and answers for a number of days, or never (`TALLY_KEEP_CONTENT_DAYS`), and only of billed calls that ask for it by `svc.keep`, or whose API key does (`keep`). They are encrypted, and only the caller reads them.';

function read(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/calls/{id}/content',
    operationId: 'getCallContent',
    credentials: ACCOUNT_CREDENTIALS,
    group: COMPUTE,
    summary: 'Read prompt and answer of one of the caller’s calls',
    description: `${KEPT} A part whose JSON is longer than 524,288 characters is not kept.`,
    availability: 'live',
    params: PARAMS,
    answers: { 200: { description: 'What is kept', schema: contentSchema } },
    errors: [...CALLER_ERRORS, 'content_not_kept'],
    admit: services.callers.admitCaller,
    async handle(call) {
      const found = await services.compute.contents.find(...(await placeOf(services, call)));
      if (found === null) throw notKept();
      const { keptUntil, ...parts } = found;
      return json(
        { kept_until: timeOf(keptUntil * 1_000), ...parts },
        { headers: { 'cache-control': 'private, no-store', vary: 'Authorization' } },
      );
    },
  });
}

function remove(services: Needs): Endpoint {
  return endpoint({
    method: 'delete',
    path: '/v1/compute/calls/{id}/content',
    operationId: 'deleteCallContent',
    credentials: ACCOUNT_CREDENTIALS,
    group: COMPUTE,
    summary: 'Delete prompt and answer of one of the caller’s calls',
    description: 'Deletes what is kept of the call at once. Its row, its receipt and its bill stay.',
    availability: 'live',
    params: PARAMS,
    answers: { 204: { description: 'It is deleted' } },
    errors: [...CALLER_ERRORS, 'content_not_kept'],
    admit: services.callers.admitCaller,
    async handle(call) {
      if (!(await services.compute.contents.remove(...(await placeOf(services, call))))) throw notKept();
      return { status: 204, body: null, contentType: null };
    },
  });
}

/** Owner, key and id of the content that is asked for. A key that another account pays for reads what was made with it alone. */
async function placeOf(
  { callers }: Needs,
  call: ClientCall & { readonly params: z.infer<typeof PARAMS> },
): Promise<[owner: string, key: string | null, id: string]> {
  const { account, key } = await callers.callerOf(call);
  const { id } = call.params;
  if (!/^[\w.]{1,200}$/.test(id)) throw notKept();
  return [account, key === null || account === callerAccount(key.id) ? null : key.id, id];
}

function notKept(): TallyError {
  return new TallyError(
    'content_not_kept',
    'Nothing is kept of a call of yours with this id. Only billed calls that ask for it (svc.keep, or keep of the API key) are kept, where and as long as the operator keeps them.',
  );
}
