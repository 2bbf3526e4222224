import { z } from '@hono/zod-openapi';
import {
  CALLER_ERRORS,
  onlyKeyOf,
  type PayingKey,
  requireTenant,
  TENANT_ERRORS,
  TENANT_HEADERS,
  tenantOf,
} from '@tallystick/callers';
import { formatTimestamp, KEPT } from '@tallystick/core';
import { formatUsdc, parseUsdc, tenantAccount } from '@tallystick/ledger';
import type { ListedReceipt, ReceiptFilters } from '@tallystick/receipts';
import { type Answer, json } from '../http/answer.ts';
import { bucketQuery, bucketsOf } from '../http/buckets.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { EXPORT_TYPES, type ListQuery, listAnswer, listQuery, pageSchema, timeOf } from '../http/list.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { countedSchema } from './counted.ts';
import {
  apiKeyIdText,
  callTag,
  count,
  didText,
  dollars,
  hashFilter,
  receiptIdText,
  storable,
  timestamp,
} from './shapes.ts';

type Needs = Pick<Services, 'store' | 'callers' | 'clock'>;

/** What a caller may list: what an account owns, or the part of it that was made with one key. */
export interface Whose {
  readonly owner: string;
  readonly key: string | null;
}

/** The request headers of lists of what a caller owns, for the reference. */
export const OWNER_HEADERS = {
  Authorization: 'Optional: `Bearer` and an API key, or a tenant key.',
  'X-Agent-DID': 'The DID whose list is asked for; the request is signed with its key.',
};

/** Lists and counts of what a caller issued or paid for. */
export function listingRoutes(services: Needs): Endpoint[] {
  return [
    receipts(services),
    receiptCounts(services),
    tenantReceipts(services),
    tenantReceiptCounts(services),
  ];
}

/** For `admit`: the tenant of a tenant key, else the API key, else null of a request that a DID signed. */
export const admitOwner =
  ({ callers }: Pick<Needs, 'callers'>) =>
  async (call: Exchange): Promise<{ readonly tenant: string } | { readonly key: PayingKey | null }> => {
    const tenant = tenantOf(await callers.admit(call, 'tenantKey', 'none'));
    return tenant === null ? { key: await callers.admitCaller(call) } : { tenant };
  };

/** Whose receipts and hashes a request is about. */
export async function ownerOf(
  { callers }: Pick<Needs, 'callers'>,
  call: Exchange & {
    readonly rawBody: Uint8Array;
    readonly admitted: Awaited<ReturnType<ReturnType<typeof admitOwner>>>;
  },
): Promise<Whose> {
  if ('tenant' in call.admitted) return { owner: tenantAccount(call.admitted.tenant), key: null };
  const caller = await callers.callerOf({ ...call, admitted: call.admitted.key });
  return { owner: caller.account, key: onlyKeyOf(caller) };
}

const filter = (description: string) =>
  z
    .string()
    .max(4_096)
    .refine(...storable)
    .optional()
    .openapi({ description });

const usdcText = (description: string) => z.string().optional().openapi({ description, example: '0.001' });

const receiptFilters = {
  did: filter('The agent that the receipt names.'),
  key: filter('The id of the API key that it was made with.'),
  profile: z
    .enum(KEPT.map(({ name }) => name))
    .optional()
    .openapi({ description: 'The profile of the receipt, or `metering`.' }),
  purpose: filter('The purpose that the receipt states, in full.'),
  model: filter('The model of the call that it is of.'),
  receipt_id: filter('The id of the receipt.'),
  request_hash: hashFilter('SHA-256 of the request or the subject, in hex.'),
  session: filter('The id of the session that it is a step of.'),
  provider: filter('The provider of the model of the call that it is of. No other receipt has one.'),
  status: z.enum(['ok', 'error']).optional().openapi({
    description:
      'How the call ended that it is of: `error` where its answer broke off. A call that failed before has no receipt, and no other receipt has a status.',
  }),
  tag: callTag('A tag of the call that it is of, as `name:value`. No other receipt has one.'),
  min_cost: usdcText(
    'The least that was paid for it, in USDC. Leaves out receipts of which that is not known.',
  ),
  max_cost: usdcText(
    'The most that was paid for it, in USDC. Leaves out receipts of which that is not known.',
  ),
};

const receiptQuery = z.strictObject({ ...listQuery, ...receiptFilters });
const receiptCountQuery = z.strictObject({ ...bucketQuery, ...receiptFilters });

const receiptSchema = z
  .object({
    receipt_id: receiptIdText.openapi({ description: 'The id of the receipt.' }),
    at: timestamp.openapi({ description: 'When it was issued.' }),
    profile: z.string().openapi({ description: 'Its profile, or `metering`.', example: 'standard' }),
    purpose: z.string().nullable().openapi({ description: 'The purpose that it states.' }),
    did: didText.nullable().openapi({ description: 'The agent that it names.' }),
    key: apiKeyIdText.nullable().openapi({ description: 'The API key that it was made with.' }),
    model: z.string().nullable().openapi({ description: 'The model of the call that it is of.' }),
    provider: z.string().nullable().openapi({ description: 'The provider of that model.' }),
    status: z
      .enum(['ok', 'error'])
      .nullable()
      .openapi({ description: 'How that call ended: `error` where its answer broke off.' }),
    request_hash: z
      .string()
      .nullable()
      .openapi({ description: 'SHA-256 of the request or the subject, in hex.' }),
    session: z.string().nullable().openapi({ description: 'The session that it is a step of.' }),
    cost_usdc: dollars
      .nullable()
      .openapi({ description: 'What was paid for it; null where that is not known.' }),
    anchored: z
      .object({
        leaf_index: count.nullable().openapi({ description: 'From 0; null if it is not in the log.' }),
      })
      .openapi({ description: 'Its place in the log.' }),
    expires_at: timestamp.openapi({ description: 'Until when the service keeps it.' }),
  })
  .openapi('ListedReceipt', { description: 'A receipt in a list: `GET /v1/receipt/{id}` answers it whole.' });

const RECEIPT_ANSWERS = {
  200: {
    description: 'The receipts, newest first',
    schema: pageSchema(receiptSchema),
    otherwise: EXPORT_TYPES,
  },
};

const RECEIPT_COUNTS = { 200: { description: 'The counts', schema: countedSchema('receipts') } };

/** Headers of an answer that is its caller's alone. */
export const PRIVATE = { 'cache-control': 'private, no-store', vary: 'Authorization' };

const tenantParams = z.object({
  id: z.string().openapi({ description: 'The id of the tenant.', example: 't_0123456789abcdef' }),
});

function receipts(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/receipts',
    operationId: 'listReceipts',
    credentials: [...ACCOUNT_CREDENTIALS, 'tenantKey'],
    group: 'Receipts',
    summary: 'List your receipts',
    description:
      'The receipts that you issued or paid for, or that were made as you: of the API key, the tenant key, or the DID that signs the request. Newest first, until they expire. A receipt is in the list within a second. With `format`, everything that matches is streamed as a file.',
    availability: 'live',
    headers: OWNER_HEADERS,
    query: receiptQuery,
    answers: RECEIPT_ANSWERS,
    errors: CALLER_ERRORS,
    admit: admitOwner(services),
    handle: async (call) => receiptList(services, await ownerOf(services, call), call.query),
  });
}

function receiptCounts(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/receipts/counts',
    operationId: 'countReceipts',
    credentials: [...ACCOUNT_CREDENTIALS, 'tenantKey'],
    group: 'Receipts',
    summary: 'Count your receipts',
    description:
      'How many receipts of `GET /v1/receipts` were issued in each bucket of time (UTC), newest first, for plots. A bucket without receipts is left out. Counts by profile, model, provider, status, key and the purpose of calls are kept ready; by any other filter the receipts are counted when it is asked.',
    availability: 'live',
    headers: OWNER_HEADERS,
    query: receiptCountQuery,
    answers: RECEIPT_COUNTS,
    errors: CALLER_ERRORS,
    admit: admitOwner(services),
    handle: async (call) => countAnswer(services, await ownerOf(services, call), call.query),
  });
}

function tenantReceipts(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/tenants/{id}/receipts',
    operationId: 'listTenantReceipts',
    credentials: ['tenantKey'],
    group: 'Tenants',
    summary: 'List a tenant’s receipts',
    description: 'As `GET /v1/receipts`, of the tenant whose key is sent.',
    availability: 'live',
    headers: TENANT_HEADERS,
    params: tenantParams,
    query: receiptQuery,
    answers: RECEIPT_ANSWERS,
    errors: TENANT_ERRORS,
    admit: async (call) => requireTenant(await services.callers.admit(call, 'tenantKey'), call.params.id),
    handle: ({ admitted: { tenant }, query }) =>
      receiptList(services, { owner: tenantAccount(tenant), key: null }, query),
  });
}

function tenantReceiptCounts(services: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/tenants/{id}/receipts/counts',
    operationId: 'countTenantReceipts',
    credentials: ['tenantKey'],
    group: 'Tenants',
    summary: 'Count a tenant’s receipts',
    description: 'As `GET /v1/receipts/counts`, of the tenant whose key is sent.',
    availability: 'live',
    headers: TENANT_HEADERS,
    params: tenantParams,
    query: receiptCountQuery,
    answers: RECEIPT_COUNTS,
    errors: TENANT_ERRORS,
    admit: async (call) => requireTenant(await services.callers.admit(call, 'tenantKey'), call.params.id),
    handle: ({ admitted: { tenant }, query }) =>
      countAnswer(services, { owner: tenantAccount(tenant), key: null }, query),
  });
}

async function countAnswer(
  { store, clock }: Needs,
  { owner, key: only }: Whose,
  query: z.infer<typeof receiptCountQuery>,
): Promise<Answer> {
  const buckets = bucketsOf(query, clock());
  const filters = filtersOf(query, only);
  const now = Math.floor(clock() / 1_000);
  const counted =
    filters === null ? [] : await store.receiptList.counts({ ...filters, ...buckets, owner, now });
  const data = counted.map(({ at, receipts }) => ({ at: formatTimestamp(at * 1_000), receipts }));
  return json({ data }, { headers: PRIVATE });
}

function receiptList(
  { store, clock }: Needs,
  { owner, key: only }: Whose,
  query: ListQuery & z.infer<typeof receiptQuery>,
): Promise<Answer> {
  const filters = filtersOf(query, only);
  const now = Math.floor(clock() / 1_000);
  return listAnswer(query, {
    name: 'receipts',
    read: async (page) =>
      filters === null ? [] : store.receiptList.page({ ...filters, ...page, owner, now }),
    placeOf: ({ at, id }) => ({ at, id }),
    show: receiptDocument,
    columns: [
      'receipt_id',
      'at',
      'profile',
      'purpose',
      'did',
      'key',
      'model',
      'provider',
      'status',
      'request_hash',
      'session',
      'cost_usdc',
      'anchored.leaf_index',
      'expires_at',
    ],
  });
}

/**
 * Null where no receipt can match.
 * @param only the id of the only key whose receipts may be read
 * @throws invalid_field for an amount that is none
 */
export function filtersOf(
  query: Partial<z.infer<z.ZodObject<typeof receiptFilters>>>,
  only: string | null,
): ReceiptFilters | null {
  const { min_cost: least, max_cost: most } = query;
  if (only !== null && query.key !== undefined && query.key !== only) return null;
  return {
    id: query.receipt_id ?? null,
    requestHash: query.request_hash?.replace(/^sha256:/, '') ?? null,
    session: query.session ?? null,
    did: query.did ?? null,
    key: only ?? query.key ?? null,
    model: query.model ?? null,
    purpose: query.purpose ?? null,
    profile: query.profile ?? null,
    provider: query.provider ?? null,
    status: query.status ?? null,
    tag: query.tag ?? null,
    minCost: least === undefined ? null : parseUsdc(least, 'min_cost'),
    maxCost: most === undefined ? null : parseUsdc(most, 'max_cost'),
  };
}

function receiptDocument(row: ListedReceipt) {
  return {
    receipt_id: row.id,
    at: timeOf(row.at),
    profile: row.profile,
    purpose: row.purpose,
    did: row.did,
    key: row.key,
    model: row.model,
    provider: row.provider,
    status: row.status,
    request_hash: row.requestHash,
    session: row.session,
    cost_usdc: row.cost === null ? null : formatUsdc(row.cost),
    anchored: { leaf_index: row.leafIndex },
    expires_at: timeOf(row.expiresAt * 1_000),
  };
}
