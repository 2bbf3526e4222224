import { z } from '@hono/zod-openapi';
import {
  AGENT_HEADERS,
  type ApiKeyRow,
  accountKeys,
  CALLER_ERRORS,
  changeAccountKey,
  isApiKeyId,
  type KeyMembers,
  makeAccountKey,
  type Owner,
  ownerOf,
  revokeAccountKey,
  rotateAccountKey,
  spendingDocuments,
} from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import { limitsSchema, requireCatalogued } from '@tallystick/inference';
import type { ReceivedBody } from '@tallystick/kit';
import { requireKeySecret } from '@tallystick/payments';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { apiKeyIdText, storable, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'callers' | 'store' | 'clock' | 'issuer' | 'compute'>;

const GROUP = 'Keys';
const PAGE = 50;
const MOST_GRACE = 7 * 86_400;
const PRIVATE = { headers: { 'cache-control': 'no-store' } };
const HEADERS = {
  Authorization: '`Bearer` and an API key that may manage the keys of its account.',
  ...AGENT_HEADERS,
};
const ERRORS = [...CALLER_ERRORS, 'key_cannot_manage'] as const;

/** The API keys of an account, as its owner manages them. */
export function keyRoutes(services: Needs): Endpoint[] {
  return [
    list(services),
    make(services),
    change(services),
    revoke(services),
    rotate(services),
    limits(services),
  ];
}

const PARAMS = z.object({
  id: z.string().refine(isApiKeyId, 'Not the id of an API key').openapi({
    description: 'The id of the API key: `key_…`, not the key.',
    example: 'key_4fmx07q2zk81ab9c',
  }),
});

const name = z
  .string()
  .min(1)
  .max(200)
  .refine(...storable)
  .nullish();
const members = {
  name: name.openapi({ description: 'A name to recognise the key by.' }),
  expires_at: z.iso
    .datetime({ offset: true })
    .nullish()
    .openapi({ description: 'When it stops working; null for never.', example: '2027-12-31T00:00:00Z' }),
  limits: limitsSchema.nullish().openapi({ description: 'Limits of its calls; null for none.' }),
  manages: z
    .boolean()
    .optional()
    .openapi({ description: 'Whether the key may make and change keys of the account. False when absent.' }),
  keep: z.boolean().optional().openapi({
    description:
      'Whether prompt and answer of its calls are kept, encrypted, where the operator allows it and the call does not say `svc.keep` itself. False when absent.',
  }),
};
const money = (description: string) => z.string().openapi({ description, example: '1.25' });

const spentSchema = z
  .object({
    day_usdc: money('What its calls of this UTC day were charged, in USDC.'),
    month_usdc: money('What its calls of this calendar month (UTC) were charged, in USDC.'),
  })
  .openapi({ description: 'What its calls were charged.' });

const keyMembers = {
  id: apiKeyIdText,
  name: z.string().nullable().openapi({ description: 'Its name; null where it has none.' }),
  created_at: timestamp.openapi({ description: 'When it was made.' }),
  last_used_at: timestamp.nullable().openapi({
    description: 'When a request last came with it, to within some seconds; null where none did.',
  }),
  expires_at: timestamp.nullable().openapi({ description: 'When it stops working; null for never.' }),
  revoked_at: timestamp.nullable().openapi({ description: 'When it was revoked; null where it was not.' }),
  manages: z.boolean().openapi({ description: 'Whether it may make and change keys of the account.' }),
  keep: z.boolean().openapi({
    description:
      'Whether prompt and answer of its calls are kept where the operator allows it and the call does not say `svc.keep` itself.',
  }),
  limits: limitsSchema,
  spent: spentSchema,
};
const keySchema = z
  .object(keyMembers)
  .openapi('ApiKey', { description: 'An API key, without the key itself.' });
const secretSchema = z
  .object({
    ...keyMembers,
    key: z.string().openapi({ description: 'The key itself. It is shown here and never again.' }),
  })
  .openapi('NewApiKey', { description: 'An API key that was just made, with the key itself.' });

/** What the caller's own calls count in: never what other keys of its account did, unless it may manage those. */
function limits({ callers, store, clock }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/limits',
    operationId: 'getLimits',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Read the caller’s limits and spending',
    description:
      'What the caller’s calls count in: the API key and, where the key may manage the keys of its account, the owner of that account; or the DID that a message signature proves. Of the limits of a key that may not, the headers of its calls say what the tightest one leaves.',
    availability: 'live',
    headers: { Authorization: 'Optional: `Bearer` and an API key.', ...AGENT_HEADERS },
    answers: {
      200: {
        description: 'The limits and the spending',
        schema: z.object({
          data: z
            .array(
              z
                .object({
                  spender: z.string().openapi({
                    description: 'The id of the API key, or the DID.',
                    example: 'key_4fmx07q2zk81ab9c',
                  }),
                  limits: limitsSchema,
                  spent: spentSchema,
                })
                .openapi('SpenderLimits', { description: 'What calls count in: its limits and spending.' }),
            )
            .openapi({ description: 'The caller itself first; empty for a caller without an account.' }),
        }),
      },
    },
    errors: CALLER_ERRORS,
    admit: callers.admitCaller,
    async handle(call) {
      const { spenders, key } = await callers.callerOf(call);
      const shown = spenders.filter(({ id }) => key === null || key.manages || id === key.id);
      return json({ data: await spendingDocuments({ store, now: clock() }, shown) }, PRIVATE);
    },
  });
}

function list(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/keys',
    operationId: 'listKeys',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'List the API keys of an account',
    description: 'Newest first, with their limits and what they spent; revoked ones too.',
    availability: 'live',
    headers: HEADERS,
    query: z.strictObject({
      limit: z
        .string()
        .regex(/^(?:[1-9]\d{0,2}|1000)$/, 'Not 1 to 1000')
        .optional()
        .openapi({ description: `Most keys of a page: ${PAGE} when absent, 1000 at most.` }),
      cursor: z
        .string()
        .max(200)
        .optional()
        .openapi({ description: 'The `next_cursor` of the page before; from the newest when absent.' }),
    }),
    answers: {
      200: {
        description: 'The keys',
        schema: z.object({
          data: z.array(keySchema).openapi({ description: 'The keys, newest first.' }),
          next_cursor: z
            .string()
            .nullable()
            .openapi({ description: 'The `cursor` of the next page; null on the last one.' }),
        }),
      },
    },
    errors: ERRORS,
    admit: services.callers.admitCaller,
    async handle(call) {
      const owner = await callingOwner(services, call);
      const limit = Number(call.query.limit ?? PAGE);
      const before = call.query.cursor === undefined ? undefined : readCursor(call.query.cursor);
      // Reading one more than is answered shows whether there is a next page.
      const { rows, documents } = await accountKeys(keysOf(services), owner, { before, limit: limit + 1 });
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      return json({ data: documents.slice(0, limit), next_cursor: last ? cursorOf(last) : null }, PRIVATE);
    },
  });
}

function make(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/keys',
    operationId: 'createKey',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Make an API key',
    description:
      'Makes a key whose calls the account pays for. A key that a key of a tier makes has that tier, and counts in the same monthly quota; one that a DID makes pays for model calls and can’t anchor. Limits are kept by all processes of the service together: a call that would pass one is refused with 429 before anything is sent to a provider.',
    availability: 'live',
    headers: HEADERS,
    body: z.strictObject(members),
    example: { name: 'nightly batch', limits: { day_usdc: '5', requests_per_minute: 60 } },
    answers: { 201: { description: 'The key, which is shown this once', schema: secretSchema } },
    errors: [...ERRORS, 'unavailable'],
    admit: services.callers.admitCaller,
    async handle(call) {
      const owner = await callingOwner(services, call);
      checked(services, call.body);
      const secret = requireKeySecret(services.issuer);
      const made = await makeAccountKey(keysOf(services), owner, secret, call.body);
      return json(made, { status: 201, ...PRIVATE });
    },
  });
}

function change(services: Needs): Endpoint {
  return endpoint({
    method: 'patch',
    path: '/v1/keys/{id}',
    operationId: 'updateKey',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Name, limit or date an API key',
    description:
      'Replaces the members that are given, of `limits` too; null takes one away. It holds from the next request on, in every process. The account’s own key is limited by the operator.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    body: z.strictObject(members),
    example: { limits: { day_usdc: '10' } },
    answers: { 200: { description: 'The key as it is now', schema: keySchema } },
    errors: [...ERRORS, 'key_not_found'],
    admit: services.callers.admitCaller,
    async handle(call) {
      const owner = await callingOwner(services, call);
      checked(services, call.body);
      return json(await changeAccountKey(keysOf(services), owner, call.params.id, call.body), PRIVATE);
    },
  });
}

function revoke(services: Needs): Endpoint {
  return endpoint({
    method: 'delete',
    path: '/v1/keys/{id}',
    operationId: 'revokeKey',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Revoke an API key',
    description:
      'From the next request on, in every process. It stays in the list. Repeating it changes nothing.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    answers: { 200: { description: 'The key as it is now', schema: keySchema } },
    errors: [...ERRORS, 'key_not_found'],
    admit: services.callers.admitCaller,
    async handle(call) {
      const owner = await callingOwner(services, call);
      return json(await revokeAccountKey(keysOf(services), owner, call.params.id), PRIVATE);
    },
  });
}

function rotate(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/keys/{id}/rotate',
    operationId: 'rotateKey',
    credentials: ACCOUNT_CREDENTIALS,
    group: GROUP,
    summary: 'Rotate an API key',
    description:
      'Gives the key a new secret under the same id: limits, spending and account stay. The secret before works for `grace_seconds` more; that of an earlier rotation ends at once.',
    availability: 'live',
    headers: HEADERS,
    params: PARAMS,
    body: z.strictObject({
      grace_seconds: z.int().min(0).max(MOST_GRACE).optional().openapi({
        description: 'How long the secret before stays good: 0 when absent, a week at most.',
      }),
    }),
    example: { grace_seconds: 3600 },
    answers: { 200: { description: 'The key with its new secret, shown this once', schema: secretSchema } },
    errors: [...ERRORS, 'key_not_found', 'unavailable'],
    admit: services.callers.admitCaller,
    async handle(call) {
      const owner = await callingOwner(services, call);
      const secret = requireKeySecret(services.issuer);
      const graceSeconds = call.body.grace_seconds ?? 0;
      const { id } = call.params;
      return json(await rotateAccountKey(keysOf(services), owner, id, { secret, graceSeconds }), PRIVATE);
    },
  });
}

function keysOf({ store, clock }: Needs) {
  return { store, now: clock() };
}

/** @throws key_cannot_manage, api_key_missing, and what `callerOf` throws */
async function callingOwner({ callers }: Needs, call: ReceivedBody): Promise<Owner> {
  return ownerOf(await callers.callerOf(call));
}

/** @throws invalid_field for limits that name what the catalogue does not have */
function checked({ compute }: Needs, { limits }: KeyMembers): void {
  if (limits !== undefined && limits !== null) requireCatalogued(limits, compute.pipeline.catalogue);
}

function cursorOf({ createdAt, id }: Pick<ApiKeyRow, 'createdAt' | 'id'>): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url');
}

/** @throws invalid_field */
function readCursor(cursor: string): Pick<ApiKeyRow, 'createdAt' | 'id'> {
  const [, createdAt, id = ''] =
    /^(\d{1,12})\.(key_[0-9a-z]{16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (createdAt !== undefined) return { createdAt: Number(createdAt), id };
  throw new TallyError('invalid_field', 'cursor: give the next_cursor of an answer, unchanged.', {
    field: 'cursor',
  });
}
