import type { JsonObject } from '@tallystick/core';
import { MODEL } from './compute.ts';

/** The reads of what belongs to a caller, and the callers of whom each may show something (isolation.test.ts). */

type Headers = Readonly<Record<string, string>>;
export type Sign = (method: string, path: string, body?: string) => Promise<Headers> | Headers;

/** A caller, and what only it and those who pay for it may see. */
export interface Party {
  readonly name: string;
  readonly sign: Sign;
  /** Values that its rows have, for the filters; the first of `marks` is not among those of others. */
  readonly known: Record<string, string>;
  /** Texts that appear in its rows and in nobody else's. */
  readonly marks: string[];
  /** Names of the others whose rows it may read. */
  readonly pays: readonly string[];
}

/** Paths to a read of what belongs to somebody. */
export const READS: Readonly<Record<string, (known: Party['known']) => string[]>> = {
  listReceipts: () => ['/v1/receipts'],
  listTenantReceipts: ({ tenant }) => (tenant === undefined ? [] : [`/tenants/${tenant}/receipts`]),
  listAnchors: () => ['/v1/anchors'],

  listCalls: () => ['/v1/compute/calls'],
  getCall: ({ receipt_id: id }) => (id === undefined ? [] : [`/v1/compute/calls/${id}`]),
  listSessions: () => ['/v1/sessions'],
  listKeys: () => ['/v1/keys'],
  getLimits: () => ['/v1/limits'],
  listWebhooks: () => ['/v1/webhooks'],
  listWebhookDeliveries: ({ webhook }) =>
    webhook === undefined ? [] : [`/v1/webhooks/${webhook}/deliveries`],
  listEvidenceExports: ({ tenant }) => (tenant === undefined ? [] : [`/tenants/${tenant}/evidence/exports`]),
};

/** Reads of what belongs to somebody that another test tries. */
export const TRIED_IN: Readonly<Record<string, string>> = {
  countReceipts: 'the test of what is counted',
  countTenantReceipts: 'the test of what is counted',
  countAnchors: 'the test of what is counted',
  countCalls: 'the test of what is counted',
  followCalls: 'the last test of this file',
  getCallContent: 'compute-content.test.ts',
  getSession: 'sessions.test.ts',
  readStream: 'streams.test.ts',
  exportEvidence: 'evidence.test.ts',
  getBalance: 'balance.test.ts',
  getBalanceStatement: 'balance.test.ts and keys.test.ts',
  listBalanceEntries: 'balance.test.ts',
  getOperatorOverview: 'operator-interface.test.ts',
  listWithdrawals: 'payouts.test.ts',
  getUsage: 'compute-usage.test.ts',
};

export const KEYS = ['one', 'two'];
const MADE = ['made-by-one', 'made-by-two'];
const AGENTS = ['did-one', 'did-two'];
const MADE_BY_AGENTS = ['made-by-did-one', 'made-by-did-two'];
const TENANTS = ['tenant-one', 'tenant-two'];
/** Who is shown something by a read. */
export const SHOWN_TO: Readonly<Record<string, string[]>> = {
  listReceipts: [...AGENTS, ...MADE, ...MADE_BY_AGENTS, ...KEYS, ...TENANTS],
  listTenantReceipts: TENANTS,
  listAnchors: [...MADE, ...KEYS],
  listCalls: [...AGENTS, ...MADE, ...MADE_BY_AGENTS, ...KEYS],
  getCall: [...AGENTS, ...MADE, ...MADE_BY_AGENTS, ...KEYS],
  listSessions: [...AGENTS, ...MADE, ...MADE_BY_AGENTS, ...KEYS],
  listKeys: [...AGENTS, ...KEYS],
  getLimits: [...AGENTS, ...MADE, ...MADE_BY_AGENTS, ...KEYS],
  listWebhooks: [...AGENTS, ...KEYS, ...TENANTS],
  listWebhookDeliveries: [...AGENTS, ...KEYS, ...TENANTS],
  listEvidenceExports: TENANTS,
};

/** Values of each query parameter, of the rows of a caller. */
export const VALUES: Readonly<
  Record<string, (known: Party['known'], operationId: string) => (string | undefined)[]>
> = {
  limit: () => ['1', '1000'],
  first: () => [],
  cursor: () => [],
  from: () => ['0'],
  to: () => ['9999999999'],
  format: () => ['csv', 'ndjson'],
  did: ({ did }) => [did],
  key: ({ key }) => [key],
  profile: () => ['standard', 'nano'],
  purpose: () => ['inference', 'shared'],
  model: () => [MODEL],
  provider: () => ['openai'],
  status: (_, operationId) => ['ok', 'error', ...(operationId.endsWith('Calls') ? ['200', '404'] : [])],
  error_code: () => ['model_not_found'],
  min_cost: () => ['0'],
  max_cost: () => ['1'],
  tag: () => ['team:shared'],
  session: () => ['shared'],
  receipt_id: ({ receipt_id: id, emitted }) => [id, emitted],
  request_hash: ({ request_hash: hash }) => [hash],
  canonical_sha256: ({ hash }) => [hash],
  bucket: () => ['minute', 'hour', 'day'],
  by: () => ['none', 'model', 'provider', 'status', 'key'],
};

/** The counts: the list that has as many rows, at whose path `/counts` is, and the member that counts them. */
export const COUNTS = {
  countReceipts: { list: 'listReceipts', sum: 'receipts' },
  countTenantReceipts: { list: 'listTenantReceipts', sum: 'receipts' },
  countAnchors: { list: 'listAnchors', sum: 'anchors' },
  countCalls: { list: 'listCalls', sum: 'calls' },
} as const;

export const LIVE = '/v1/compute/calls/live';
/** Parameters that leave no row out, of those that the tests of counts and live lists pass over. */
export const NO_FILTERS: ReadonlySet<string> = new Set(['from', 'to', 'bucket', 'by']);

interface Parameter {
  readonly name: string;
  readonly in: string;
}

export interface Read {
  readonly operationId: string;
  readonly parameters: readonly string[];
}

/** The reads that need a credential of somebody: every GET of the document that nobody may make without one. */
export function privateReads(document: JsonObject): Read[] {
  const paths = document['paths'] as Record<
    string,
    { get?: { operationId: string; security?: object[]; parameters?: Parameter[] } }
  >;
  return Object.values(paths).flatMap(({ get }) => {
    if (get === undefined) return [];
    const { security = [], parameters = [], operationId } = get;
    if (security.length === 0 || security.some((one) => Object.keys(one).length === 0)) return [];
    return [
      { operationId, parameters: parameters.filter((one) => one.in === 'query').map(({ name }) => name) },
    ];
  });
}
