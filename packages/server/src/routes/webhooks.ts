import { z } from '@hono/zod-openapi';
import {
  AGENT_HEADERS,
  CALLER_ERRORS,
  type ClientCall,
  changeWebhook,
  consumeDaily,
  createWebhook,
  type DeliveryRow,
  deleteWebhook,
  isWebhookId,
  MOST_WEBHOOKS,
  ownerOf as managingOwner,
  requireWebhook,
  rotateWebhookSecret,
  TEST_EVENT,
  WEBHOOK_EVENTS,
  type WebhookRow,
  webhookMessage,
} from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import { tenantAccount } from '@tallystick/ledger';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { EXPORT_TYPES, listAnswer, listQuery, pageSchema, timeOf } from '../http/list.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { storable, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'store' | 'issuer' | 'callers'>;

const GROUP = 'Webhooks';
const CREDENTIALS = [...ACCOUNT_CREDENTIALS, 'tenantKey'] as const;
const HEADERS = {
  Authorization: '`Bearer` and the API key, or the key of the tenant, whose webhooks are meant.',
  ...AGENT_HEADERS,
};
const TESTS_A_DAY = 100;
const REPEATS_A_DAY = 100;
const DAY_SECONDS = 86_400;
/** Longest time for which a secret that was rotated away still signs, in seconds. */
const MOST_GRACE = 7 * DAY_SECONDS;

const url = z.string().openapi({
  description:
    'Where messages are sent: an https URL without user name and fragment, at most 2048 characters.',
  example: 'https://example.com/hooks/tallystick',
});
const events = z
  .array(z.enum(WEBHOOK_EVENTS))
  .min(1)
  .openapi({ description: 'What it is told of (docs/webhooks.md).', example: ['balance.low'] });

const PARAMS = z.object({
  id: z.string().refine(isWebhookId, 'Not the id of a webhook: wh_ and 24 hex digits').openapi({
    description: 'The id of the webhook.',
    example: 'wh_5f0c1b2a9d8e7f6011223344',
  }),
});

const webhook = {
  id: z.string().openapi({ description: 'Its id.', pattern: '^wh_[0-9a-f]{24}$' }),
  url,
  events,
  enabled: z.boolean().openapi({ description: 'Whether messages are sent to it.' }),
  disabled_because: z.enum(['owner', 'failing', 'gone']).nullable().openapi({
    description:
      '`owner`: you disabled it. `failing`: it accepted nothing for three days. `gone`: it answered 410. Null while it is enabled.',
  }),
  disabled_at: timestamp
    .nullable()
    .openapi({ description: 'When it was disabled; null while it is enabled.' }),
  failing_since: timestamp.nullable().openapi({
    description: 'Since when every attempt has failed; null after one that was accepted.',
  }),
  previous_secret_until: timestamp.nullable().openapi({
    description:
      'Until when messages carry a signature by the secret before as well; null if none was rotated away, or it no longer signs.',
  }),
  created_at: timestamp.openapi({ description: 'When it was made.' }),
};
const webhookSchema = z.object(webhook).openapi('Webhook', { description: 'A webhook, without its secret.' });
const newWebhookSchema = z
  .object({
    ...webhook,
    secret: z.string().openapi({
      description:
        'The secret that its messages are signed with: `whsec_` and base64. It is shown this once.',
      pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
    }),
  })
  .openapi('NewWebhook', { description: 'A webhook with its secret, which is shown this once.' });

const deliverySchema = z
  .object({
    id: z.string().openapi({ description: 'The id of the message, sent as `webhook-id`.' }),
    type: z.string().openapi({ description: 'The event, or `webhook.test`.' }),
    at: timestamp.openapi({ description: 'When the message was made.' }),
    state: z.enum(['waiting', 'delivered', 'failed']).openapi({ description: 'What became of it.' }),
    attempts: z.int().openapi({ minimum: 0, description: 'How often it was sent.' }),
    next_attempt_at: timestamp
      .nullable()
      .openapi({ description: 'When it is sent again; null if it is not.' }),
    last_attempt_at: timestamp.nullable().openapi({ description: 'When it was sent last; null before.' }),
    status: z.int().nullable().openapi({ description: 'HTTP status of the last answer; null without one.' }),
    problem: z.string().nullable().openapi({ description: 'Why the last attempt failed.' }),
    took_ms: z.int().nullable().openapi({ description: 'Milliseconds that the last attempt took.' }),
    message: z.looseObject({}).openapi({ description: 'What is sent: `type`, `timestamp` and `data`.' }),
  })
  .openapi('WebhookDelivery', { description: 'A message to a webhook, and what became of it.' });

/** Messages that a caller is sent when something has happened (Standard Webhooks). */
export function webhookRoutes(services: Needs): Endpoint[] {
  return [list, create, change, rotate, remove, test, deliveries, repeat].map((define) => define(services));
}

type Admitted = { readonly tenantOwner: string } | NonNullable<ClientCall['admitted']> | null;

/** A tenant's key is looked up before the body is read, like the keys that `callerOf` takes up. */
const admitOwner =
  ({ callers }: Pick<Needs, 'callers'>) =>
  async (exchange: Exchange): Promise<Admitted> => {
    const isTenants = /^bearer +k_ten_/i.test(exchange.incoming.header('authorization') ?? '');
    if (!isTenants) return callers.admitCaller(exchange);
    return { tenantOwner: tenantAccount((await callers.admit(exchange, 'tenantKey')).tenant) };
  };

async function ownerOf(
  { callers }: Pick<Needs, 'callers'>,
  call: Omit<ClientCall, 'admitted'> & { readonly admitted: Admitted },
): Promise<string> {
  const { admitted } = call;
  if (admitted !== null && 'tenantOwner' in admitted) return admitted.tenantOwner;
  const caller = await callers.callerOf({ ...call, admitted });
  // A key that only makes calls must not redirect what its account is told.
  if (caller.key !== null) managingOwner(caller);
  return caller.account;
}

const PRIVATE = { 'cache-control': 'private, no-store' };

function list(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'List your webhooks',
    description: `Newest first, all at once: there are at most ${MOST_WEBHOOKS}.`,
    availability: 'live',
    headers: HEADERS,
    answers: { 200: { description: 'The webhooks', schema: pageSchema(webhookSchema) } },
    errors: [...CALLER_ERRORS, 'key_cannot_manage'],
    admit: admitOwner(services),
    async handle(call) {
      const rows = await services.store.webhooks.list(await ownerOf(services, call));
      return json(
        { data: rows.map((row) => webhookDocument(row, services.clock())), next_cursor: null },
        { headers: PRIVATE },
      );
    },
  });
}

function create(services: Needs): Endpoint {
  const { config, store, issuer, clock } = services;
  return endpoint({
    method: 'post',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Make a webhook',
    description: `The service then sends a signed message to the URL whenever one of the events happens to you (docs/webhooks.md). Only public addresses are called, by HTTPS. Each caller has at most ${MOST_WEBHOOKS}. Free.`,
    availability: 'live',
    headers: HEADERS,
    body: z.strictObject({ url, events }),
    example: { url: 'https://example.com/hooks/tallystick', events: ['balance.low', 'key.revoked'] },
    answers: { 201: { description: 'The webhook, with its secret', schema: newWebhookSchema } },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'webhook_limit', 'unavailable'],
    admit: admitOwner(services),
    async handle(call) {
      const { row, secret } = await createWebhook(store, issuer.keyring.apiKeySecret, {
        owner: await ownerOf(services, call),
        ...call.body,
        development: config.mode === 'development',
        now: clock(),
      });
      return json({ ...webhookDocument(row, clock()), secret }, { status: 201, headers: PRIVATE });
    },
  });
}

function change(services: Needs): Endpoint {
  const { config, store, clock } = services;
  return endpoint({
    method: 'patch',
    path: '/v1/webhooks/{id}',
    operationId: 'updateWebhook',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Change a webhook',
    description:
      'Changes what is given and leaves the rest. `enabled: false` drops what waits; `enabled: true` also forgets how long it has failed. The secret stays: `POST /v1/webhooks/{id}/rotate` gives another.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    body: z.strictObject({
      url: url.optional(),
      events: events.optional(),
      enabled: z.boolean().optional().openapi({ description: 'Whether messages are sent to it.' }),
    }),
    example: { enabled: true },
    answers: { 200: { description: 'The webhook', schema: webhookSchema } },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'webhook_not_found'],
    admit: admitOwner(services),
    async handle(call) {
      const owner = await ownerOf(services, call);
      const now = clock();
      const development = config.mode === 'development';
      const place = { owner, id: call.params.id };
      const row = await changeWebhook(store, place, { ...call.body, development, now });
      return json(webhookDocument(row, now), { headers: PRIVATE });
    },
  });
}

function rotate(services: Needs): Endpoint {
  const { store, issuer, clock } = services;
  return endpoint({
    method: 'post',
    path: '/v1/webhooks/{id}/rotate',
    operationId: 'rotateWebhookSecret',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Rotate the secret of a webhook',
    description:
      'Gives the webhook a new secret. For `grace_seconds` more, messages carry two signatures, by the new secret and by the one before, as Standard Webhooks says, so that a receiver can change over in between. The secret of an earlier rotation ends at once.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    body: z.strictObject({
      grace_seconds: z.int().min(0).max(MOST_GRACE).optional().openapi({
        description: 'How long the secret before still signs: a day when absent, a week at most.',
      }),
    }),
    example: { grace_seconds: 3600 },
    answers: { 200: { description: 'The webhook with its new secret', schema: newWebhookSchema } },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'webhook_not_found', 'unavailable'],
    admit: admitOwner(services),
    async handle(call) {
      const { row, secret } = await rotateWebhookSecret(store, issuer.keyring.apiKeySecret, {
        owner: await ownerOf(services, call),
        id: call.params.id,
        now: clock(),
        graceMs: (call.body.grace_seconds ?? DAY_SECONDS) * 1_000,
      });
      return json({ ...webhookDocument(row, clock()), secret }, { headers: PRIVATE });
    },
  });
}

function remove(services: Needs): Endpoint {
  return endpoint({
    method: 'delete',
    path: '/v1/webhooks/{id}',
    operationId: 'deleteWebhook',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Delete a webhook',
    description: 'Deletes it with its secret, what waits for it and its deliveries.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    answers: { 204: { description: 'It is deleted' } },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'webhook_not_found'],
    admit: admitOwner(services),
    async handle(call) {
      await deleteWebhook(services.store, await ownerOf(services, call), call.params.id);
      return { status: 204, body: null, contentType: null };
    },
  });
}

function test(services: Needs): Endpoint {
  const { store, clock } = services;
  return endpoint({
    method: 'post',
    path: '/v1/webhooks/{id}/test',
    operationId: 'testWebhook',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Send a test message to a webhook',
    description: `Sends a message of type \`webhook.test\` within seconds; its delivery shows what the receiver answered. ${TESTS_A_DAY} a day for each account.`,
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    answers: {
      202: {
        description: 'The message will be sent',
        schema: z.object({ id: z.string().openapi({ description: 'The id of the message.' }) }),
      },
    },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'webhook_not_found', 'webhook_disabled', 'rate_limited'],
    admit: admitOwner(services),
    async handle(call) {
      const owner = await ownerOf(services, call);
      const { id } = await requireWebhook(store, owner, call.params.id);
      const at = clock();
      // Not of the webhook, which can be deleted and made anew.
      await consumeDaily({ name: 'webhook-test', limit: TESTS_A_DAY, store }, owner, call, at);
      const occasion = `${id} ${call.requestId} ${at}`;
      const message = webhookMessage(TEST_EVENT, { occasion, at, data: { webhook_id: id } });
      if (!(await store.webhooks.emitTo(message, id)))
        throw new TallyError('webhook_disabled', 'The webhook is disabled. Enable it first.');
      return json({ id: message.id }, { status: 202, headers: PRIVATE });
    },
  });
}

function deliveries(services: Needs): Endpoint {
  const { store } = services;
  return endpoint({
    method: 'get',
    path: '/v1/webhooks/{id}/deliveries',
    operationId: 'listWebhookDeliveries',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'List the deliveries of a webhook',
    description: 'Newest first, of the last 30 days.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    query: z.strictObject(listQuery),
    answers: {
      200: { description: 'The deliveries', schema: pageSchema(deliverySchema), otherwise: EXPORT_TYPES },
    },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'webhook_not_found'],
    admit: admitOwner(services),
    async handle(call) {
      const { id } = await requireWebhook(store, await ownerOf(services, call), call.params.id);
      return listAnswer<DeliveryRow>(call.query, {
        name: 'deliveries',
        read: (page) => store.webhooks.deliveries(id, page),
        placeOf: ({ at, message }) => ({ at, id: message }),
        show: deliveryDocument,
        columns: Object.keys(deliverySchema.shape),
      });
    },
  });
}

function repeat(services: Needs): Endpoint {
  const { store, clock } = services;
  return endpoint({
    method: 'post',
    path: '/v1/webhooks/{id}/deliveries/{delivery}/repeat',
    operationId: 'repeatWebhookDelivery',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Repeat a delivery of a webhook',
    description: `Sends the message again within seconds, with the same \`webhook-id\`, however it ended, and tries as often as for a new one. ${REPEATS_A_DAY} a day for each account.`,
    availability: 'live',
    headers: HEADERS,
    params: PARAMS.extend({
      delivery: z
        .string()
        .min(1)
        .max(200)
        .refine(...storable)
        .openapi({
          description: 'The id of the delivery, which is that of its message.',
          example: 'msg_5f0c1b2a9d8e7f6011223344',
        }),
    }),
    answers: {
      202: {
        description: 'The message will be sent',
        schema: z.object({ id: z.string().openapi({ description: 'The id of the message.' }) }),
      },
    },
    errors: [
      ...CALLER_ERRORS,
      'key_cannot_manage',
      'webhook_not_found',
      'webhook_disabled',
      'not_found',
      'rate_limited',
    ],
    admit: admitOwner(services),
    async handle(call) {
      const { id, delivery } = call.params;
      const owner = await ownerOf(services, call);
      const webhook = await requireWebhook(store, owner, id);
      const at = clock();
      await consumeDaily({ name: 'webhook-repeat', limit: REPEATS_A_DAY, store }, owner, call, at);
      if (await store.webhooks.repeat(id, delivery, at))
        return json({ id: delivery }, { status: 202, headers: PRIVATE });
      if (webhook.disabledAt !== null)
        throw new TallyError('webhook_disabled', 'The webhook is disabled. Enable it first.');
      throw new TallyError(
        'not_found',
        'The webhook has no delivery with this id. They are kept for 30 days.',
        {
          field: 'delivery',
        },
      );
    },
  });
}

const timeOrNull = (at: number | null): string | null => (at === null ? null : timeOf(at));

/** @param now Unix milliseconds */
function webhookDocument(row: WebhookRow, now: number) {
  return {
    id: row.id,
    url: row.url,
    events: row.events.split(' '),
    enabled: row.disabledAt === null,
    disabled_because: row.disabledBecause,
    disabled_at: timeOrNull(row.disabledAt),
    failing_since: timeOrNull(row.failingSince),
    previous_secret_until: (row.previousUntil ?? 0) > now ? timeOrNull(row.previousUntil) : null,
    created_at: timeOf(row.createdAt),
  };
}

function deliveryDocument(row: DeliveryRow) {
  return {
    id: row.message,
    type: row.type,
    at: timeOf(row.at),
    state: row.state,
    attempts: row.attempts,
    next_attempt_at: timeOrNull(row.dueAt),
    last_attempt_at: timeOrNull(row.lastAt),
    status: row.status,
    problem: row.problem,
    took_ms: row.took,
    message: JSON.parse(row.body),
  };
}
