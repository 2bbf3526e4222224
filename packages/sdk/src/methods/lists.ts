import type { StreamHead } from '@tallystick/core';
import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type {
  ListAnchorsAnswer,
  ListLeavesAnswer,
  ListPostingsAnswer,
  ListReceiptsAnswer,
  ListSessionsAnswer,
  ListTenantReceiptsAnswer,
} from './documents.ts';
import { read } from './read.ts';

/** What every list takes. Lists are newest first. */
export interface ListParams {
  /** Most rows of a page: 1 to 1,000; 50 when absent. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** The first instant, as in RFC 3339 or as Unix seconds. */
  readonly from?: string | number | undefined;
  /** The end, exclusive. */
  readonly to?: string | number | undefined;
}

/** What receipts are looked for by. */
export interface ListReceiptsParams extends ListParams {
  readonly did?: string | undefined;
  /** Id of an API key. */
  readonly key?: string | undefined;
  readonly profile?: string | undefined;
  readonly purpose?: string | undefined;
  readonly model?: string | undefined;
  /** Of the receipt of a call: the provider of its model. */
  readonly provider?: string | undefined;
  /** Of the receipt of a call: `error` where its answer broke off. */
  readonly status?: 'ok' | 'error' | undefined;
  /** Of the receipt of a call: a tag of `svc.tags`, as `name:value`. */
  readonly tag?: string | undefined;
  /** The least that was paid for it, in USDC. */
  readonly minCost?: string | undefined;
  /** The most that was paid for it, in USDC. */
  readonly maxCost?: string | undefined;
  readonly receiptId?: string | undefined;
  /** SHA-256 of the request or the subject, in hex. */
  readonly requestHash?: string | undefined;
  readonly session?: string | undefined;
}

/** What anchored hashes are looked for by. */
export interface ListAnchorsParams extends ListParams {
  /** One hash, base64url. */
  readonly canonicalSha256?: string | undefined;
  /** Id of the API key that it was handed in with. */
  readonly key?: string | undefined;
  /** Id of a receipt that was anchored when it was issued. */
  readonly receiptId?: string | undefined;
}

/** What postings are looked for by. */
export interface ListPostingsParams extends ListParams {
  readonly state?: 'queued' | 'broadcast' | 'confirmed' | 'finalized' | undefined;
  /** `0x` and 64 hex. */
  readonly txHash?: string | undefined;
  /** Number of leaves that the root covers. */
  readonly treeSize?: number | undefined;
}

/** Part of a stream: what the caller was issued, as hashes in the order in which they were stored (spec/streams.md). */
export interface StreamPart {
  readonly stream: string;
  readonly since: string;
  /** Number of its receipts now. */
  readonly count: number;
  /** Place of the first hash, counted from 1. */
  readonly first: number;
  /** Anchored hashes, in hex. */
  readonly hashes: readonly string[];
  /** Heads within the hashes, and the one before them. `readStreamHead` verifies one, and `judgeStream` the whole. */
  readonly heads: readonly StreamHead[];
}

/** Lists of what the caller issued, paid for or anchored, and of the log. */
export interface ListMethods {
  /** Lists the caller's receipts: of the API key, of the tenant key, or of the agent that signs. */
  listReceipts(params?: ListReceiptsParams, call?: CallOptions): Promise<ListReceiptsAnswer>;
  /** Reads the caller's stream from a place on; at most 5,000 hashes. @throws ServiceError (stream_not_found) */
  readStream(
    params?: { readonly first?: number | undefined; readonly limit?: number | undefined },
    call?: CallOptions,
  ): Promise<StreamPart>;
  /** Has a head of the caller's stream signed; the first one opens the stream of an API key or a DID. */
  signStreamHead(call?: CallOptions): Promise<StreamHead>;
  /** Lists a tenant's receipts. `apiKey` is one of the tenant's keys. */
  listTenantReceipts(
    tenantId: string,
    params?: ListReceiptsParams,
    call?: CallOptions,
  ): Promise<ListTenantReceiptsAnswer>;
  /** Lists the hashes that the caller anchored. */
  listAnchors(params?: ListAnchorsParams, call?: CallOptions): Promise<ListAnchorsAnswer>;
  /**
   * Lists the caller's sessions, of calls of models and signed by the service, by their beginning.
   * @param params `key`: id of the API key whose calls and receipts alone count
   */
  listSessions(
    params?: ListParams & { readonly key?: string | undefined },
    call?: CallOptions,
  ): Promise<ListSessionsAnswer>;
  /** Lists the hashes in the log. @param params `fromIndex`: the leaf to begin with, from which indexes fall */
  listLeaves(
    params?: ListParams & { readonly fromIndex?: number | undefined },
    call?: CallOptions,
  ): Promise<ListLeavesAnswer>;
  /** Lists the roots posted to the chain. */
  listPostings(params?: ListPostingsParams, call?: CallOptions): Promise<ListPostingsAnswer>;
}

export function listMethods(transport: Transport): ListMethods {
  return {
    listReceipts: (params = {}, call) => read(transport, '/v1/receipts', call, filtersOf(params)),
    readStream: ({ first, limit } = {}, call) => read(transport, '/v1/stream', call, { first, limit }),
    signStreamHead: async (call) => (await transport.post<StreamHead>('/v1/stream/heads', null, call)).json,
    listTenantReceipts: async (tenantId, params = {}, call) =>
      read(transport, `/tenants/${pathPart(tenantId, 'tenantId')}/receipts`, call, filtersOf(params)),
    listAnchors: ({ canonicalSha256: canonical_sha256, key, receiptId: receipt_id, ...page } = {}, call) =>
      read(transport, '/v1/anchors', call, { ...pageOf(page), canonical_sha256, key, receipt_id }),
    listSessions: ({ key, ...page } = {}, call) =>
      read(transport, '/v1/sessions', call, { ...pageOf(page), key }),
    listLeaves: ({ fromIndex, ...page } = {}, call) =>
      read(transport, '/v1/log/leaves', call, { ...pageOf(page), from_index: fromIndex }),
    listPostings: ({ state, txHash: tx_hash, treeSize: tree_size, ...page } = {}, call) =>
      read(transport, '/v1/log/postings', call, { ...pageOf(page), state, tx_hash, tree_size }),
  };
}

export function pageOf({ limit, cursor, from, to }: ListParams): ListParams {
  return { limit, cursor, from, to };
}

function filtersOf({ did, key, profile, purpose, model, session, ...params }: ListReceiptsParams): object {
  const { receiptId: receipt_id, requestHash: request_hash, provider, status, tag } = params;
  const ofCall = { model, provider, status, tag, min_cost: params.minCost, max_cost: params.maxCost };
  return { ...pageOf(params), ...ofCall, did, key, profile, purpose, receipt_id, request_hash, session };
}
