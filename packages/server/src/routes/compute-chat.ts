import { type ClientCall, missingKey } from '@tallystick/callers';
import { ENVELOPE_PROFILE, type JsonObject, SCHEMA_VERSION, TallyError } from '@tallystick/core';
import {
  alreadyAnswered,
  type Call,
  CallSignal,
  CallTrail,
  type Completed,
  completeChat,
  embed,
  embeddingRequestSchema,
  failureOf,
  inTermsOf,
  type ListedRequest,
  listFailure,
  type Open,
  ProviderError,
  readChatRequest,
  readEmbeddingRequest,
  referredItems,
  replayedAnswer,
  type Streaming,
  streamChat,
} from '@tallystick/inference';
import {
  type IdempotencyRecord,
  idempotencyClaim,
  keyInUseError,
  type Received,
  requestHash,
} from '@tallystick/kit';
import { DEVELOPMENT, showLowBalance, X402 } from '@tallystick/ledger';
import { type Answer, text } from '../http/answer.ts';
import { OPENAI } from '../http/dialect.ts';
import { clientSignal } from '../http/disconnect.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { CALL_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { PROTOCOL_ROUTES, type ProtocolRoute } from './compute-protocols.ts';
import {
  CALL_ERRORS,
  CALL_HEADERS,
  CALL_RESPONSE_HEADERS,
  COMPUTE,
  embeddingsSchema,
} from './compute-shapes.ts';

type Needs = Pick<
  Services,
  'config' | 'clock' | 'store' | 'clients' | 'callers' | 'payments' | 'compute' | 'claims' | 'shadows'
>;

/** The endpoints that call a model (specification 4.3). */
export function callRoutes(services: Needs): Endpoint[] {
  return [...PROTOCOL_ROUTES.map((route) => protocolEndpoint(services, route)), embeddings(services)];
}

const EMBEDDINGS = '/v1/compute/embeddings';
const MAX_DID = 1_024;
const CALL_DESCRIPTION = 'A model call, at most';
/** Vouchers of a channel for many small calls; `upto` for a single large one. */
const CALL_SCHEMES = ['batch-settlement', 'upto'] as const;
const CALL_PRICE = { usd: null, unit: 'call, by its tokens', schemes: CALL_SCHEMES };

function protocolEndpoint(services: Needs, route: ProtocolRoute): Endpoint {
  const { protocol, path, body, answer, answerIdHeader } = route;
  return endpoint({
    method: 'post',
    path,
    operationId: route.operationId,
    credentials: CALL_CREDENTIALS,
    group: COMPUTE,
    summary: route.summary,
    description: route.description,
    availability: 'live',
    dialect: route.dialect,
    headers: CALL_HEADERS,
    price: CALL_PRICE,
    body,
    maxBodyBytes: services.config.compute.maxBodyBytes,
    example: route.example,
    answers: {
      200: {
        description: 'The answer; with `stream` as server-sent events',
        schema: answer,
        otherwise: { 'text/event-stream': route.events },
        headers: {
          ...CALL_RESPONSE_HEADERS,
          ...(answerIdHeader && { 'Request-Id': 'The same as `X-Receipt-Id`.' }),
        },
      },
    },
    errors: [...CALL_ERRORS, ...(route.errors ?? [])],
    admit: services.callers.admitPayer,
    async handle(exchange) {
      const { pipeline } = services.compute;
      const { body: parsed, bodyText: text, incoming } = exchange;
      const header = (name: string): string | undefined => incoming.header(name);
      const items = await referredItems(pipeline, parsed, { protocol, header });
      const request = readChatRequest(parsed, pipeline.catalogue, { protocol, text, header, items });
      const { stream } = request;
      try {
        return await called(
          services,
          exchange,
          { route: path, request, stream, answerIdHeader },
          async (call) => {
            const follow = (id: string): void => services.shadows.follow(pipeline, call, id);
            if (!stream) {
              const answer = await completeChat(pipeline, call);
              if (!answer.replayed) follow(answer.receiptId);
              return answer;
            }
            const streaming = await streamChat(pipeline, call);
            void streaming.billed.then(() => follow(streaming.receiptId));
            return streaming;
          },
        );
      } catch (error) {
        throw inTermsOf(protocol, error);
      }
    },
  });
}

function embeddings(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: EMBEDDINGS,
    operationId: 'createEmbeddings',
    credentials: CALL_CREDENTIALS,
    group: COMPUTE,
    summary: 'Embed texts',
    description: 'OpenAI embeddings, metered and recorded in a receipt.',
    availability: 'live',
    dialect: OPENAI,
    headers: CALL_HEADERS,
    price: CALL_PRICE,
    body: embeddingRequestSchema,
    maxBodyBytes: services.config.compute.maxBodyBytes,
    example: { model: 'local/embed-512', input: 'a tally stick' },
    answers: {
      200: { description: 'The embeddings', schema: embeddingsSchema, headers: CALL_RESPONSE_HEADERS },
    },
    errors: CALL_ERRORS,
    admit: services.callers.admitPayer,
    async handle(exchange) {
      const request = readEmbeddingRequest(exchange.body);
      return called(services, exchange, { route: EMBEDDINGS, request, stream: false }, (call) =>
        embed(services.compute.pipeline, call),
      );
    },
  });
}

interface CallOptions<Request> {
  readonly route: string;
  readonly request: Request;
  readonly stream: boolean;
  readonly answerIdHeader?: ProtocolRoute['answerIdHeader'];
}

/** Carries out a call; with an `Idempotency-Key` once, whichever process receives it. */
async function called<Request extends ListedRequest & { readonly raw: JsonObject; readonly anchor: boolean }>(
  services: Needs,
  exchange: ClientCall & Pick<Exchange, 'c'>,
  { route, request, stream, answerIdHeader }: CallOptions<Request>,
  carryOut: (call: Call<Request>) => Promise<Completed | Streaming>,
): Promise<Answer> {
  const { clients, clock, callers, compute, config } = services;
  const { incoming } = exchange;
  const caller = await callers.payerOf(exchange);
  requireShort(caller.did);
  if (request.anchor && caller.key?.kind !== 'apiKey') throw missingKey('svc.anchor');
  const body = request.raw;
  const strangers = caller.account === DEVELOPMENT || caller.account === X402;
  const open = caller.key === null ? opener(services, exchange, { route, body, stream }) : null;
  const claim =
    open?.claim ??
    idempotencyClaim(incoming, {
      caller: strangers ? clients.scope(incoming) : caller.name,
      route,
      body,
      now: clock(),
    });
  const signal = new CallSignal(clientSignal(exchange.c), config.compute.maxCallMs, compute.pipeline.stop);
  const trail = new CallTrail();
  const call = { request, incoming, caller, signal, claim, trail, open: open?.open ?? null };
  const answered = await once(services, call, stream, () => carryOut(call)).catch((error: unknown) => {
    signal.end();
    if (!incoming.isProbe) listFailure(compute.pipeline.calls, call, error, clock());
    throw error;
  });
  // A stream ends the signal itself.
  if (!('events' in answered)) signal.end();
  await showLowBalance(services, { account: caller.account, atLeast: answered.available }, exchange);
  return answerOf(answered, answerIdHeader);
}

/**
 * Returns the function by which an x402 payment covers the call, and the claim of a payment that came with it; null
 * with payments off.
 */
function opener(
  { payments }: Needs,
  exchange: Received,
  { route, body, stream }: { readonly route: string; readonly body: JsonObject; readonly stream: boolean },
): { readonly open: Open; readonly claim: IdempotencyRecord | undefined } | null {
  if (payments === null) return null;
  const hash = requestHash(exchange.incoming, { route, body });
  const offered = payments.offered(exchange);
  const order = { path: route, description: CALL_DESCRIPTION, schemes: CALL_SCHEMES, requestHash: hash };
  return {
    open: (ceiling) => payments.open(exchange, order, ceiling),
    // The payer of a stream does not know the charge yet, and may send the same voucher with a new call.
    claim: offered === null || (stream && !offered.isNamed) ? undefined : offered.claim(hash),
  };
}

/** Refused before the call, since the receipt's size is limited. */
function requireShort(did: string | null): void {
  if (did === null || did.length <= MAX_DID) return;
  throw new TallyError('invalid_field', `X-Agent-DID is longer than ${MAX_DID} characters.`, {
    field: 'X-Agent-DID',
  });
}

/**
 * Carries out a call. One with an `Idempotency-Key` is carried out by one process at a time, until it is billed; the
 * others wait for its answer, as long as the call itself may take.
 */
async function once(
  { claims }: Needs,
  { claim, signal }: Pick<Call<unknown>, 'claim' | 'signal'>,
  stream: boolean,
  carryOut: () => Promise<Completed | Streaming>,
): Promise<Completed | Streaming> {
  if (claim === undefined) return carryOut();
  const claimed = await claims.take(claim, signal.signal).catch((error: unknown) => {
    if (!signal.signal.aborted) throw error;
    throw signal.left || signal.stopped ? endedFromOutside(signal) : keyInUseError();
  });
  if (claimed.kind === 'replayed') {
    if (stream) throw alreadyAnswered(claimed.response);
    return replayedAnswer(claimed.response);
  }
  try {
    const answer = await carryOut();
    if ('billed' in answer) void answer.billed.then(claimed.release);
    else claimed.release();
    return answer;
  } catch (error) {
    claimed.release();
    throw error;
  }
}

function endedFromOutside(signal: CallSignal): TallyError {
  return failureOf(
    signal,
    new ProviderError('aborted', 'ended while another call with the same key was running'),
  );
}

/** The refusal to wait longer for another request with the same key. */
function answerOf(answer: Completed | Streaming, answerIdHeader: ProtocolRoute['answerIdHeader']): Answer {
  const headers = {
    'x-receipt-id': answer.receiptId,
    ...(answerIdHeader && { [answerIdHeader]: answer.receiptId }),
    'x-receipt-profile': ENVELOPE_PROFILE,
    'x-receipt-schema-version': SCHEMA_VERSION,
  };
  if ('events' in answer) {
    return {
      status: 200,
      body: answer.events,
      contentType: 'text/event-stream; charset=utf-8',
      // Proxies that buffer an answer would defeat streaming.
      headers: { ...headers, 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' },
      concluded: answer.billed,
    };
  }
  return text(answer.text, 'application/json', {
    headers: {
      ...headers,
      ...(answer.anchorRef === null ? {} : { 'x-anchor-ref': answer.anchorRef }),
      ...(answer.replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
  });
}
