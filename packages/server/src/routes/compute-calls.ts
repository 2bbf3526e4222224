import { z } from '@hono/zod-openapi';
import { CALLER_ERRORS, type Caller, type ClientCall, isApiKeyId, onlyKeyOf } from '@tallystick/callers';
import { ENVELOPE_PROFILE, isDid, type JsonObject, receiptIdPattern, TallyError } from '@tallystick/core';
import {
  CALL_COLUMNS,
  type CallFilters,
  callDocument,
  countDocuments,
  GROUPINGS,
  type ListedCall,
} from '@tallystick/inference';
import { CALL_PURPOSE } from '@tallystick/inference/rows';
import { parseUsdc } from '@tallystick/ledger';
import { json } from '../http/answer.ts';
import { bucketQuery, bucketsOf } from '../http/buckets.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import {
  EXPORT_TYPES,
  type ListPage,
  type ListQuery,
  listAnswer,
  listQuery,
  pageSchema,
  timeOf,
} from '../http/list.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { callDetailSchema, callSchema, countSchema } from './compute-call-shapes.ts';
import { COMPUTE } from './compute-shapes.ts';
import { callTag, hashFilter, storable, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'clock' | 'config' | 'store' | 'callers' | 'tails'>;

/** The caller's own calls of models: a list, one of them, counts for plots, and those that end now. */
export function callListRoutes(services: Needs): Endpoint[] {
  return [list(services), counts(services), live(services), detail(services)];
}

const text = (most: number, description: string) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine(...storable)
    .optional()
    .openapi({ description });

const usdcText = (description: string) => z.string().optional().openapi({ description, example: '0.001' });

const STATUS = z.string().regex(/^(?:ok|error|[1-5]\d\d)$/, 'Not ok, error or an HTTP status');

/** The filter by the key that a call was made with. */
export const keyFilter = z.string().refine(isApiKeyId, 'Not the id of an API key').optional().openapi({
  description: 'The id of the API key that the call was made with, `key_…`.',
});

const FILTERS = {
  did: z.string().max(2_048).refine(isDid, 'Not a DID').optional().openapi({
    description: 'The DID that the call was made under.',
  }),
  key: keyFilter,
  model: text(200, 'The model that answered, or that a failed call was sent to.'),
  provider: text(200, 'The provider of that model.'),
  status: STATUS.optional().openapi({
    description: 'The HTTP status of the answer; `ok` for calls without an error, `error` for all others.',
  }),
  error_code: text(100, 'The code of the error that was answered, or that ended a stream.'),
  min_cost: usdcText('The least that the call cost, in USDC.'),
  max_cost: usdcText('The most that the call cost, in USDC.'),
  tag: callTag('A tag of `svc.tags`, as `name:value`.'),
  session: text(128, 'The `svc.session` of the call.'),
  receipt_id: z.string().regex(receiptIdPattern, 'Not the id of a receipt').optional().openapi({
    description: 'The id of the call’s receipt.',
  }),
  request_hash: hashFilter('SHA-256 of the request, as the receipt has it.'),
  purpose: text(100, `The purpose in the receipt: of calls always \`${CALL_PURPOSE}\`.`),
  profile: text(100, `The profile of the receipt: of calls with a receipt always \`${ENVELOPE_PROFILE}\`.`),
} as const;

const listParameters = z.strictObject({ ...listQuery, ...FILTERS });
type Filters = Omit<z.infer<typeof listParameters>, keyof typeof listQuery>;

/** Whose calls a caller may read: those of an account, or of them those that were made with one key. */
interface Whose {
  readonly owner: string;
  readonly only: string | null;
}

/** @throws what `callerOf` throws */
export async function whoseOf({ callers }: Pick<Needs, 'callers'>, call: ClientCall): Promise<Whose> {
  return whoseIs(await callers.callerOf(call));
}

function whoseIs(caller: Caller): Whose {
  return { owner: caller.account, only: onlyKeyOf(caller) };
}

/**
 * Whether it costs next to nothing to have such an account: that of a DID whose balance is low, also where a key of that DID calls. Anybody
 * can give many DIDs a balance of a millionth.
 */
async function isFreeAccount(
  { config, store }: Pick<Needs, 'config' | 'store'>,
  { key, account }: Caller,
): Promise<boolean> {
  if (key !== null && isApiKeyId(key.owner)) return false;
  return (await store.ledger.balance(account)).balance < config.sales.lowBalance;
}

/** The key that rows are looked for by; null for all, false where the caller asks for another key than the one it may read. */
export function keyOf({ only }: Whose, key: string | undefined): string | null | false {
  return only !== null && key !== undefined && key !== only ? false : (only ?? key ?? null);
}

/** Reads the caller's calls that match the query. @throws invalid_field for an amount that is none */
function readerOf({ store }: Pick<Needs, 'store'>, whose: Whose, query: Filters): Read {
  const filters = filtersOf(whose, query);
  if (filters === null) return async () => [];
  return (page) => store.calls.page({ ...filters, ...page, owner: whose.owner });
}

type Read = (page: ListPage) => Promise<ListedCall[]>;

/** Null where no call can match. @throws invalid_field */
function filtersOf(whose: Whose, query: Filters): CallFilters | null {
  const {
    purpose = CALL_PURPOSE,
    profile = ENVELOPE_PROFILE,
    status,
    min_cost: least,
    max_cost: most,
  } = query;
  const key = keyOf(whose, query.key);
  if (key === false || purpose !== CALL_PURPOSE || profile !== ENVELOPE_PROFILE) return null;
  return {
    id: query.receipt_id ?? null,
    did: query.did ?? null,
    key,
    model: query.model ?? null,
    provider: query.provider ?? null,
    // Whatever went well was answered 200, so that the index of statuses serves `ok` too.
    status: status === undefined || status === 'error' ? null : Number(status === 'ok' ? 200 : status),
    failed: status === 'ok' || status === 'error' ? status === 'error' : null,
    errorCode: query.error_code ?? null,
    minCost: least === undefined ? null : parseUsdc(least, 'min_cost'),
    maxCost: most === undefined ? null : parseUsdc(most, 'max_cost'),
    tag: query.tag ?? null,
    session: query.session ?? null,
    requestHash: query.request_hash?.replace(/^sha256:/, '') ?? null,
    billed: query.profile === undefined ? null : true,
  };
}

const PRIVATE = { 'cache-control': 'private, no-store', vary: 'Authorization' };

function list(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/calls',
    operationId: 'listCalls',
    credentials: ACCOUNT_CREDENTIALS,
    group: COMPUTE,
    summary: 'List the caller’s calls',
    description:
      'The calls of models that were made as this caller, newest first, with those that failed or were refused. A row is there at most a second or two after its call has ended. With `format` every call that matches is streamed as a file.',
    availability: 'live',
    query: listParameters,
    answers: {
      200: { description: 'The calls', schema: pageSchema(callSchema), otherwise: EXPORT_TYPES },
    },
    errors: [...CALLER_ERRORS],
    admit: services.callers.admitCaller,
    async handle(call) {
      const read = readerOf(services, await whoseOf(services, call), call.query);
      return listAnswer(call.query as ListQuery, {
        name: 'calls',
        read,
        placeOf: ({ at, id }) => ({ at, id }),
        show: callDocument,
        columns: CALL_COLUMNS,
      });
    },
  });
}

function counts(services: Needs): Endpoint {
  const { callers, store, clock } = services;
  return endpoint({
    method: 'get',
    path: '/v1/compute/calls/counts',
    operationId: 'countCalls',
    credentials: ACCOUNT_CREDENTIALS,
    group: COMPUTE,
    summary: 'Count the caller’s calls',
    description:
      'Sums of the caller’s calls by bucket of time (UTC), newest first, for plots; a bucket without calls is left out. It takes the filters of the list. The percentiles of latency are read from histograms and are off by at most a tenth. With `model`, `provider`, an HTTP `status` and `key` alone, a period may have any number of calls. For other filters the calls themselves are read: at most the newest 200,000 that the most selective filter leaves (for `status=ok` and `status=error`, only calls that failed are read). Where reading ended before the beginning of the period, `counted_from` says from when on calls were counted.',
    availability: 'live',
    query: z.strictObject({
      ...bucketQuery,
      by: z.enum(GROUPINGS).optional().openapi({
        description: 'What the calls of a bucket are told apart by. `none` when absent.',
      }),
      ...FILTERS,
    }),
    answers: {
      200: {
        description: 'The sums',
        schema: z.object({
          data: z.array(countSchema).openapi({ description: 'One entry for each bucket and group.' }),
          counted_from: timestamp.nullable().openapi({
            description: 'The time from which on calls were counted; null where all of the period were.',
          }),
        }),
      },
    },
    errors: [...CALLER_ERRORS],
    admit: callers.admitCaller,
    async handle(call) {
      const { by = 'none' } = call.query;
      const whose = await whoseOf(services, call);
      const filters = filtersOf(whose, call.query);
      const buckets = bucketsOf(call.query, clock());
      const { sums, countedFrom } =
        filters === null
          ? { sums: [], countedFrom: null }
          : await store.calls.counts({ ...filters, ...buckets, owner: whose.owner, by });
      const data = countDocuments(sums);
      const counted_from = countedFrom === null ? null : timeOf(countedFrom);
      return json({ data, counted_from }, { headers: PRIVATE });
    },
  });
}

function live(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/compute/calls/live',
    operationId: 'followCalls',
    credentials: ACCOUNT_CREDENTIALS,
    group: COMPUTE,
    summary: 'Follow the caller’s calls',
    description:
      'Server-sent events: `event: call` with the row of each call that ends from now on, as the list shows it, at most a second or two later. It takes the filters of the list. It ends when the API key is revoked or expires, and after 15 minutes in any case: ask again then.',
    availability: 'live',
    query: z.strictObject(FILTERS),
    answers: {
      200: { description: 'The events', contentType: 'text/event-stream', schema: z.string() },
    },
    errors: [...CALLER_ERRORS, 'rate_limited'],
    // HEAD opens no list that nobody would read.
    makes: true,
    admit: services.callers.admitCaller,
    async handle(call) {
      const caller = await services.callers.callerOf(call);
      const whose = whoseIs(caller);
      const isFree = await isFreeAccount(services, caller);
      const read = readerOf(services, whose, call.query);
      const before = { at: Number.MAX_SAFE_INTEGER, id: '' };
      return services.tails.open(call.c, { owner: whose.owner, isFree }, async (from) => {
        if (call.admitted !== null) await services.callers.keyOf(call);
        return read({ from, before, limit: 1_000 });
      });
    },
  });
}

function detail(services: Needs): Endpoint {
  const { callers, store } = services;
  return endpoint({
    method: 'get',
    path: '/v1/compute/calls/{id}',
    operationId: 'getCall',
    credentials: ACCOUNT_CREDENTIALS,
    group: COMPUTE,
    summary: 'Read one of the caller’s calls',
    description:
      'The row of the list with what is known of this call alone: how long each step took, why it was sent where it went, its bill and what compression did.',
    availability: 'live',
    params: z.object({
      id: z.string().max(200).openapi({ description: 'The `id` of the row: the receipt’s id, or `call_…`.' }),
    }),
    answers: { 200: { description: 'The call', schema: callDetailSchema } },
    errors: [...CALLER_ERRORS, 'not_found'],
    admit: callers.admitCaller,
    async handle(call) {
      const { owner, only } = await whoseOf(services, call);
      const { id } = call.params;
      const found = /^[\w.]{1,200}$/.test(id) ? await store.calls.find(owner, id) : null;
      if (found === null || (only !== null && found.row.key !== only))
        throw new TallyError('not_found', 'The caller has no call with this id.');
      const known = found.detail === null ? {} : (JSON.parse(found.detail) as JsonObject);
      return json({ ...callDocument(found.row), ...UNKNOWN, ...known }, { headers: PRIVATE });
    },
  });
}

/** What only the process knew that served a call. */
const UNKNOWN = { timeline: [], tries: [], answered: null, routing: null, billing: null, compression: null };
