import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type {
  Benchmark,
  BenchmarkNode,
  ComputeDescriptor,
  Estimate,
  Feedback,
  GetCompressionStatsAnswer,
  ListModelsAnswer,
  Model,
  Usage,
} from './documents.ts';
import { read, send } from './read.ts';

/**
 * Reads about inference. Calls of models are made by other clients: see `clientOptions`. All but the descriptor and the benchmark
 * cost a read: free with an API key, and for a number of reads a day with a DID.
 */
export interface ComputeMethods {
  /** Reads what the router offers (specification 2.11). */
  getComputeDescriptor(call?: CallOptions): Promise<ComputeDescriptor>;
  /** Lists the models with their prices and abilities. @throws ServiceError (payment_required) */
  listModels(call?: CallOptions): Promise<ListModelsAnswer>;
  /** Reads one model. @throws ServiceError (model_not_found) */
  getModel(id: string, call?: CallOptions): Promise<Model>;
  /**
   * Estimates the cost of a chat call without making it. @param request body of the call as the API has it, such as
   * the parameters of `openai.chat.completions.create`
   */
  estimateChatCompletion(request: object, call?: CallOptions): Promise<Estimate>;
  /**
   * Reads an account's usage by day and model; only one's own.
   * @param didOrKeyId a DID that signs, or the id of the API key
   */
  getUsage(didOrKeyId: string, params?: PeriodParams, call?: CallOptions): Promise<Usage>;
  /**
   * Rates the answer of a call that the same credentials paid for. The first rating stands.
   * @throws ServiceError (receipt_not_found, rated_otherwise, missing_field, conflicting_fields)
   */
  rateCall(params: RateCallParams, call?: CallOptions): Promise<Feedback>;
  /** Reads what compression saved, of all callers and of the caller. */
  getCompressionStats(call?: CallOptions): Promise<GetCompressionStatsAnswer>;
  /** Reads the signed benchmark of compression. `verifyReceipt` checks it, as it does the three nodes below. */
  getBenchmark(call?: CallOptions): Promise<Benchmark>;
  getSemanticBenchmark(call?: CallOptions): Promise<BenchmarkNode>;
  getTemporalBenchmark(call?: CallOptions): Promise<BenchmarkNode>;
  getModalityBenchmark(call?: CallOptions): Promise<BenchmarkNode>;
}

/** A rating with either `score` or `label`. */
export interface RateCallParams {
  readonly receiptId: string;
  /** From 0 for a useless answer to 100 for one as good as can be. */
  readonly score?: number | undefined;
  readonly label?: 'good' | 'bad' | undefined;
  /** At most 500 characters for the operator. */
  readonly comment?: string | undefined;
}

/** A period of days or instants in UTC. */
export interface PeriodParams {
  /** Start, `YYYY-MM-DD`: the beginning when absent. */
  readonly from?: string | undefined;
  /** End, `YYYY-MM-DD`: now when absent. */
  readonly to?: string | undefined;
}

export function computeMethods(transport: Transport): ComputeMethods {
  return {
    getComputeDescriptor: (call) => read(transport, '/v1/compute', call),
    listModels: (call) => read(transport, '/v1/compute/models', call),
    getModel: async (id, call) => read(transport, `/v1/compute/models/${pathPart(id, 'id')}`, call),
    estimateChatCompletion: (request, call) => send(transport, '/v1/compute/estimate', request, call),
    getUsage: async (didOrKeyId, { from, to } = {}, call) =>
      read(transport, `/v1/compute/usage/${pathPart(didOrKeyId, 'didOrKeyId')}`, call, { from, to }),
    rateCall: ({ receiptId, score, label, comment }, call) =>
      send(transport, '/v1/compute/feedback', { receipt_id: receiptId, score, label, comment }, call),
    getCompressionStats: (call) => read(transport, '/v1/compute/compression/stats', call),
    getBenchmark: (call) => read(transport, '/v1/compute/benchmark', call),
    getSemanticBenchmark: (call) => read(transport, '/v1/compute/benchmark/semantic', call),
    getTemporalBenchmark: (call) => read(transport, '/v1/compute/benchmark/temporal', call),
    getModalityBenchmark: (call) => read(transport, '/v1/compute/benchmark/modality', call),
  };
}
