export { alternatives } from './alternatives.ts';
export { type AnthropicError, anthropicError } from './anthropic-error.ts';
export { type Background, createBackground, runEvery } from './background.ts';
export type { ConsumeOutcome, CounterStore } from './counter-store.ts';
export { nodeEngine, nodeSigner } from './crypto/node-ed25519.ts';
export { type NodePqSigner, nodeMlDsaCosigner, nodePqSigner } from './crypto/node-ml-dsa.ts';
export { nodeSha256 } from './crypto/node-sha256.ts';
export { seal, unseal } from './crypto/sealed.ts';
export type { DocumentStore } from './document-store.ts';
export type { GuardedResponse } from './guarded/exchange.ts';
export { type FetchFault, GuardedFetchError } from './guarded/failure.ts';
export { createGuardedFetch, type GuardedFetch } from './guarded/guarded-fetch.ts';
export type { Resolve } from './guarded/pin.ts';
export { guardPolicy } from './guarded/policy.ts';
export {
  type IdempotencyReader,
  type IdempotentRequest,
  idempotencyClaim,
  idempotencyKey,
  keyInUseError,
  keyReusedError,
  replayOf,
  requestHash,
} from './idempotency.ts';
export {
  type AnswerFact,
  type Incoming,
  type RateWindow,
  type Received,
  type ReceivedBody,
  type RequestFacts,
  secondsLeft,
  UNHEARD,
} from './incoming.ts';
export { createKeyedMutex, type KeyedMutex } from './keyed-mutex.ts';
export { createLogStorms, type LogStorms } from './log-storm.ts';
export { type OpenAiError, openAiError } from './openai-error.ts';
export type { OpenPayout, Operations, OperationsStore } from './operations-store.ts';
export { othersMayRead } from './others-may-read.ts';
export { ownDocument } from './own-document.ts';
export { type EndpointPrice, PAYMENT_ERRORS, SCHEMES, type Scheme } from './price.ts';
export type {
  IdempotencyRecord,
  NewReceipt,
  PutOutcome,
  ReceiptRow,
  Repeated,
  SessionPlaceRow,
  SessionRow,
} from './records.ts';
export { type BearerError, factsOf, type ProviderWords, Refusal } from './refusal.ts';
export { RollUp } from './roll-up.ts';
export { inSpan, type Span, type SpanAttributes } from './span.ts';
export {
  type Incident,
  STATUS_KINDS,
  type StatusChange,
  type StatusDay,
  type StatusFinding,
  type StatusHistoryStore,
  type StatusKind,
  type StatusSubject,
} from './status-history-store.ts';
export { suggest } from './suggest.ts';
export { namesOf, validate } from './validate.ts';
