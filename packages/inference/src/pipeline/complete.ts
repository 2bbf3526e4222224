import { randomBytes } from 'node:crypto';
import type { Caller } from '@tallystick/callers';
import { canonicalize, type JsonObject, type JsonValue } from '@tallystick/core';
import type { IdempotencyRecord, Incoming } from '@tallystick/kit';
import type { NanoUsdc } from '@tallystick/ledger';
import type { CallTrail } from '../calls/call-trail.ts';
import type { ListedRequest } from '../calls/ended-call.ts';
import type { Model } from '../catalogue/catalogue.ts';
import type { Lesson } from '../learning/settled-call.ts';
import type { Given } from '../protocols/protocol.ts';
import { type NativeCall, type Provider, ProviderError } from '../providers/provider.ts';
import { formatUsage } from '../providers/usage.ts';
import { AUTO } from '../router/auto.ts';
import type { RouteExplanation } from '../router/record.ts';
import type { ChatBody, Usage } from '../types.ts';
import { type Admitted, admitChat, bodyFor, keyedBy, translatedFor } from './admit.ts';
import { tryEach } from './attempt.ts';
import { hashRequest, hashText } from './call-receipt.ts';
import type { CallSignal } from './call-signal.ts';
import type { ChatRequest } from './chat-request.ts';
import type { CompressionSummary } from './compression-summary.ts';
import type { PipelineContext } from './context.ts';
import { deliveredOf } from './delivered-text.ts';
import { lessonOf } from './lesson-of.ts';
import { nativeCallOf } from './native-call.ts';
import { askedOutput } from './output-limit.ts';
import { failureOf } from './provider-failure.ts';
import type { Open } from './reserve.ts';
import { Retrieval, type RetrievalRequest, retrieveAll } from './retrieval.ts';
import { type Rounds, totalOf } from './rounds.ts';
import type { Route } from './route.ts';
import { type BilledCall, settleCall } from './settle.ts';
import { streamLimit } from './stream-limit.ts';
import { type Served, svcText, withSvc } from './svc.ts';
import { usageOf } from './usage-of.ts';

/** One call under way. */
export interface Call<Request> {
  readonly request: Request;
  /** The request that it came with. */
  readonly incoming: Pick<Incoming, 'requestId' | 'traceId' | 'span' | 'tell' | 'note'>;
  readonly caller: Caller;
  readonly signal: CallSignal;
  readonly claim: IdempotencyRecord | undefined;
  readonly trail: CallTrail;
  /** Covers the call by an x402 payment; null if payments are off or an API key pays. */
  readonly open: Open | null;
}

/** An answer in one piece. */
export interface Completed {
  readonly receiptId: string;
  /** JSON. */
  readonly text: string;
  readonly anchorRef: string | null;
  readonly replayed: boolean;
  readonly available: NanoUsdc | null;
}

/** Answers a chat call that is not streamed. An answer that never came costs nothing. */
export async function completeChat(context: PipelineContext, call: Call<ChatRequest>): Promise<Completed> {
  const { request, incoming, signal, trail } = call;
  const admitted = await admitChat(context, call);
  const { route, payer } = admitted;
  const answering = orRelease(context, admitted, call, async () => {
    const tried = await tryEach(
      { ...context, signal: signal.signal, incoming, trail, named: request.model !== AUTO },
      admitted.models,
      async (provider: Provider, model) => {
        const chatCall = {
          provider,
          model,
          translated: translatedFor(request, model),
          body: bodyFor(context, request, route.body, model),
          signal: signal.signal,
        };
        const native = nativeCallOf(context, request, route.body, provider, model);
        const answer = await provider.chat({ ...chatCall, model: model.upstreamModel, native });
        if (answer.kind === 'stream')
          throw new ProviderError('bad_answer', `${provider.name} streams although no stream was asked for`);
        return { answer, chatCall, sent: () => sentTo(chatCall, native) };
      },
    );
    const retrieval = retrievalOf(context, request, payer.name, route, tried.answer.chatCall);
    const { answer } = tried.answer;
    return {
      ...tried,
      retrieval,
      sent: tried.answer.sent,
      answer: retrieval === null ? answer : await retrieveAll(retrieval, answer),
    };
  });
  // Computed while the provider works.
  const requestHash = hashRequest(request);
  const { model, answer, retrieval, sent, failed, times } = await answering;
  const ended = performance.now();
  trail.begins();
  context.health.success(model);
  const { svc: _svc, ...answerBody } = answer.body;
  const prompt = retrieval?.prompt ?? route.prompt;
  const delivered = deliveredOf(answerBody, model.tokenizer);
  const limit = askedOutput(context, request, model);
  const usage = await usageOf(answer.usage, { model, prompt, delivered, limit });
  const rounds = roundsOf(retrieval?.spent ?? [], usage);
  const body = rounds.length === 1 ? answerBody : { ...answerBody, usage: formatUsage(totalOf(rounds)) };
  const { answerOf } = request.protocol;
  const given = givenOf(context, call, admitted.id, model);
  const shown =
    answer.native ??
    (answerOf === null ? body : answerOf({ ...body, usage: body['usage'] ?? formatUsage(usage) }, given));
  await keepItems(context, call, shown);
  return settleAnswer(context, call, {
    admitted,
    served: { model, failed },
    rounds,
    requestHash,
    text: canonicalize(shown),
    sent,
    routing: route.decision.explanation,
    compression: summaryOf(request, route),
    lesson: lessonOf(request, route, {
      account: payer.name,
      limit,
      stream: false,
      times: { ...times, ended },
    }),
  });
}

/** What a protocol's answer says beside the inner answer. */
export function givenOf(
  { clock }: Pick<PipelineContext, 'clock'>,
  { request }: Pick<Call<ChatRequest>, 'request'>,
  id: string,
  model: Model,
): Given {
  const secret = request.keepsItems ? randomBytes(16).toString('hex') : undefined;
  return { request: request.raw, id, model: model.id, created: Math.floor(clock() / 1_000), secret };
}

/** Keeps the items of an answer for a client that will refer to them. A failure is logged: the answer is good without. */
export async function keepItems(
  { items, logger }: Pick<PipelineContext, 'items' | 'logger'>,
  { request, incoming: { requestId } }: Pick<Call<ChatRequest>, 'request' | 'incoming'>,
  answer: JsonObject,
): Promise<void> {
  if (!request.keepsItems) return;
  await items.keep(request.protocol.items?.of(answer) ?? [], request.credential).catch((error: unknown) => {
    logger.warn({ requestId, err: error }, 'the items of an answer could not be kept');
  });
}

interface CompletedCall {
  readonly admitted: Omit<Admitted, 'route'>;
  readonly served: Served;
  readonly rounds: Rounds;
  readonly requestHash: string;
  /** JCS of the answer without `svc`. */
  readonly text: string;
  /** The body that the provider was sent. */
  readonly sent: () => JsonValue;
  readonly routing: RouteExplanation;
  readonly compression: CompressionSummary | null;
  /** See `CallEnding`. */
  readonly lesson: Lesson | null;
}

/** Bills an answer in one piece, and adds `svc` to it. */
export async function settleAnswer(
  context: PipelineContext,
  { request, incoming, claim, trail }: Call<ListedRequest & Pick<ChatRequest, 'anchor' | 'explain'>>,
  { admitted, served, rounds, requestHash, text, sent, routing, compression, lesson }: CompletedCall,
): Promise<Completed> {
  const { id, payer, reservation, payment, tier } = admitted;
  const { explain } = request;
  const finish = (billed: BilledCall): string =>
    withSvc(text, svcText({ ...billed, routing, served, explain }));
  const ended = {
    id,
    incoming,
    trail,
    reservation,
    payment,
    model: served.model,
    request,
    rounds,
    compression,
    requestHash,
    responseHash: hashText(text),
    stream: false,
    complete: true,
    payer,
    tier,
    keyed: keyedBy(payer, request),
    lesson,
    content: () => ({ sent: sent(), answer: text }),
  };
  const settled = await settleCall(
    context,
    ended,
    (signed) => claim && { ...claim, response: finish(signed) },
  );
  await payment?.finish(settled.replayed === null ? id : null);
  if (settled.replayed !== null) return replayedAnswer(settled.replayed);
  const { anchorRef } = settled.receipt;
  const { available } = reservation;
  return { receiptId: id, text: finish(settled), anchorRef, replayed: false, available };
}

/** The body that a provider is sent: the caller's own where it speaks the caller's protocol, else the inner one. */
export function sentTo(
  { body, model }: { readonly body: ChatBody; readonly model: Model },
  native: NativeCall | undefined,
): JsonValue {
  return native === undefined
    ? { ...body, model: model.upstreamModel }
    : (JSON.parse(native.text) as JsonValue);
}

/** The answer in one piece to an earlier call, from its JSON text. */
export function replayedAnswer(text: string): Completed {
  const { svc } = JSON.parse(text) as { svc: { receipt: { receipt_id: string; anchor_ref?: string } } };
  const { receipt_id: receiptId, anchor_ref: anchorRef = null } = svc.receipt;
  return { receiptId, text, anchorRef, replayed: true, available: null };
}

/** Returns the result of `work`; if it fails, or the client has left, ends the reservation. @throws the error for the caller */
export async function orRelease<T>(
  { ledger }: PipelineContext,
  { reservation, payment }: Pick<Admitted, 'reservation' | 'payment'>,
  { signal }: Pick<Call<unknown>, 'signal'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    if (signal.left) throw new ProviderError('aborted', 'the client disconnected');
    return result;
  } catch (error) {
    if (reservation.id !== null) await ledger.release(reservation.id);
    await payment?.finish(null);
    throw error instanceof ProviderError ? failureOf(signal, error) : error;
  }
}

export function summaryOf(
  { compression: { tier } }: ChatRequest,
  { compression, note }: Pick<Route, 'compression' | 'note'>,
): CompressionSummary {
  return { tier, compression, note };
}

/** Null if the caller has not allowed the tool. */
export function retrievalOf(
  context: PipelineContext,
  request: ChatRequest,
  account: string,
  { compression }: Pick<Route, 'compression'>,
  chatCall: RetrievalRequest,
): Retrieval | null {
  if (!request.compression.retrieve) return null;
  const { compressor, retryPolicy } = context;
  const removed = compression?.removed ?? [];
  const maxStreamBytes = streamLimit(context, request, chatCall.model);
  const maxOutput = askedOutput(context, request, chatCall.model);
  const limits = { maxStreamBytes, maxOutput };
  return new Retrieval({ compressor, retryPolicy, account, removed, ...limits }, chatCall);
}

export function roundsOf(spent: readonly Usage[], last: Usage): Rounds {
  const [first, ...more] = spent;
  return first === undefined ? [last] : [first, ...more, last];
}
