export { createBenchmark } from './benchmark/benchmark.ts';
export { modelPriceDocument, money } from './billing.ts';
export { CALL_COLUMNS, callDocument } from './calls/call-document.ts';
export type {
  CallCounting,
  CallCounts,
  CallFilters,
  CallMark,
  CallPage,
  CallRow,
  CallStore,
  CallSums,
  ListedCall,
  NewCall,
  UnlistedCall,
} from './calls/call-store.ts';
export { CallTrail } from './calls/call-trail.ts';
export type { ContentRow, ContentStore } from './calls/content-store.ts';
export { BUCKETS, countDocuments, GROUPINGS } from './calls/count-calls.ts';
export type { ListedRequest } from './calls/ended-call.ts';
export { followCalls } from './calls/follow-calls.ts';
export { purgeCalls } from './calls/purge-calls.ts';
export type { Model } from './catalogue/catalogue.ts';
export { operatorSchema } from './catalogue/schema.ts';
export { priceAgeDays, retiresInDays, type Upkeep, type UpkeepTerms, upkeepOf } from './catalogue/upkeep.ts';
export { TIERS } from './compression/options.ts';
export type { CompressionStore, Note } from './compression-store.ts';
export {
  CHARGE_HEADERS,
  createFreeReads,
  FREE_READ_ERRORS,
  type FreeReads,
  READ_PRICE,
} from './free-reads.ts';
export type {
  LearnedRow,
  LearningStore,
  RateableCall,
  RatedCall,
  Rating,
} from './learning/learning-store.ts';
export { checkLimits, limitsSchema, requireCatalogued } from './limits-schema.ts';
export { localCards } from './local/cards.ts';
export { type Compute, openCompute } from './open.ts';
export type { CallMembers } from './pipeline/call-members.ts';
export { CallSignal } from './pipeline/call-signal.ts';
export { chatRequestSchema, readChatRequest, referredItems } from './pipeline/chat-request.ts';
export { type Call, type Completed, completeChat, replayedAnswer } from './pipeline/complete.ts';
export type { PipelineContext } from './pipeline/context.ts';
export { embed, embeddingRequestSchema, readEmbeddingRequest } from './pipeline/embed.ts';
export { estimateChat } from './pipeline/estimate.ts';
export { checkKeyRouting } from './pipeline/key-routing.ts';
export { listFailure } from './pipeline/list-failure.ts';
export { failureOf } from './pipeline/provider-failure.ts';
export type { Open } from './pipeline/reserve.ts';
export { Shadows } from './pipeline/shadows.ts';
export { type Streaming, streamChat } from './pipeline/stream.ts';
export { alreadyAnswered } from './pipeline/stream-replay-refusal.ts';
export { chat } from './protocols/chat.ts';
export { completions } from './protocols/completions/completions.ts';
export { completionRequestSchema } from './protocols/completions/request.ts';
export { countMessageTokens } from './protocols/messages/count-tokens.ts';
export { messages } from './protocols/messages/messages.ts';
export { countTokensSchema, messagesRequestSchema } from './protocols/messages/schema.ts';
export { inTermsOf, type Protocol } from './protocols/protocol.ts';
export { responses } from './protocols/responses/responses.ts';
export { responsesRequestSchema } from './protocols/responses/schema.ts';
export { retryAfter } from './providers/failures.ts';
export { ProviderError } from './providers/provider.ts';
export { type Health, targetOf } from './resilience/health.ts';
export { type Light, lightOfAll } from './resilience/light.ts';
export { ORDERS, type RestStore, type ToldRest } from './resilience/rest-store.ts';
export type { RouteExplanation, ScoreRecord } from './router/record.ts';
export type { Replay } from './router/redecide.ts';
export { explainRequest, replay } from './router/replay.ts';
export type { ComputeConfig } from './settings.ts';
export { SERVICE_TIERS } from './types.ts';
