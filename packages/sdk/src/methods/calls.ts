import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { CallDetail, CallRow, CountCallsAnswer, ListCallsAnswer } from './documents.ts';
import { type ListParams, pageOf } from './lists.ts';
import { read, withQuery } from './read.ts';

/** What calls are looked for by. */
export interface CallFilters {
  readonly did?: string | undefined;
  /** Id of an API key. */
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** An HTTP status, `ok`, or `error`. */
  readonly status?: number | 'ok' | 'error' | undefined;
  readonly errorCode?: string | undefined;
  /** USDC, as decimal text. */
  readonly minCost?: string | undefined;
  readonly maxCost?: string | undefined;
  /** A tag of `svc.tags`, as `name:value`. */
  readonly tag?: string | undefined;
  readonly session?: string | undefined;
  readonly receiptId?: string | undefined;
  /** SHA-256 of the request, in hex. */
  readonly requestHash?: string | undefined;
  readonly purpose?: string | undefined;
  readonly profile?: string | undefined;
}

/** Which calls are counted, and what they are told apart by. */
export interface CountCallsParams extends CallFilters {
  /** The length of a bucket: `hour` when absent. */
  readonly bucket?: 'minute' | 'hour' | 'day' | undefined;
  readonly by?: 'none' | 'model' | 'provider' | 'status' | 'key' | undefined;
  /** As in RFC 3339 or as Unix seconds; `to` is exclusive. */
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
}

/** The calls of models that were made as this caller. */
export interface CallMethods {
  /** Lists calls, newest first, failed ones too. A call is in the list within a second or two of its end. */
  listCalls(params?: CallFilters & ListParams, call?: CallOptions): Promise<ListCallsAnswer>;
  /** Sums calls by bucket of time, for plots. */
  countCalls(params?: CountCallsParams, call?: CallOptions): Promise<CountCallsAnswer>;
  /** Reads one call with its timeline, routing and bill. @throws ServiceError (not_found) */
  getCall(id: string, call?: CallOptions): Promise<CallDetail>;
  /**
   * Yields each call as it ends, from now on. The service ends the answer after 15 minutes: ask again then. Leaving the loop, or
   * `signal`, ends it earlier.
   */
  followCalls(params?: CallFilters, call?: CallOptions): AsyncGenerator<CallRow, void, undefined>;
}

const PATH = '/v1/compute/calls';

export function callMethods(transport: Transport): CallMethods {
  return {
    listCalls: (params = {}, call) => read(transport, PATH, call, { ...pageOf(params), ...queryOf(params) }),
    countCalls({ bucket, by, from, to, ...filters } = {}, call) {
      return read(transport, `${PATH}/counts`, call, { bucket, by, from, to, ...queryOf(filters) });
    },
    getCall: async (id, call) => read(transport, `${PATH}/${pathPart(id, 'id')}`, call),
    async *followCalls(params = {}, call = {}) {
      const path = withQuery(`${PATH}/live`, queryOf(params));
      for await (const line of transport.lines(path, 'text/event-stream', call))
        if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as CallRow;
    },
  };
}

function queryOf(filters: CallFilters): object {
  const { did, key, model, provider, status, tag, session, purpose, profile } = filters;
  return {
    did,
    key,
    model,
    provider,
    status,
    error_code: filters.errorCode,
    min_cost: filters.minCost,
    max_cost: filters.maxCost,
    tag,
    session,
    receipt_id: filters.receiptId,
    request_hash: filters.requestHash,
    purpose,
    profile,
  };
}
