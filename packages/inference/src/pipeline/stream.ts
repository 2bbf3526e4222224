import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalize, type JsonObject, type JsonValue, TallyError } from '@tallystick/core';
import type { NanoUsdc } from '@tallystick/ledger';
import { KeptAnswer } from '../calls/kept-answer.ts';
import type { SseEvent, StreamEncoder } from '../protocols/protocol.ts';
import { WholeTexts } from '../protocols/whole-texts.ts';
import type { Provider, StreamChunk } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider.ts';
import { isUsageChunk, readUsage } from '../providers/usage.ts';
import { AUTO } from '../router/auto.ts';
import type { Reported } from '../types.ts';
import { type Admitted, admitChat, bodyFor, keyedBy, translatedFor } from './admit.ts';
import { type Tried, tryEach } from './attempt.ts';
import { hashRequest } from './call-receipt.ts';
import type { ChatRequest } from './chat-request.ts';
import {
  type Call,
  givenOf,
  keepItems,
  orRelease,
  retrievalOf,
  roundsOf,
  sentTo,
  summaryOf,
} from './complete.ts';
import type { PipelineContext } from './context.ts';
import { Delivered } from './delivered-text.ts';
import { lessonOf } from './lesson-of.ts';
import { listFailure } from './list-failure.ts';
import { nativeCallOf } from './native-call.ts';
import { askedOutput } from './output-limit.ts';
import { failureOf } from './provider-failure.ts';
import type { Retrieval } from './retrieval.ts';
import { retrieveStream } from './retrieval-stream.ts';
import { type Rounds, totalOf } from './rounds.ts';
import { isKept, type Settled, settleCall } from './settle.ts';
import { bodyOf } from './stream-body.ts';
import { StreamBudget, streamLimit } from './stream-limit.ts';
import { svcText, withSvc } from './svc.ts';
import { usageOf } from './usage-of.ts';

/** Milliseconds before each retry of a failed bill. */
const LATE_MS = [0, 1_000, 5_000, 20_000];

/** A stream that has begun. */
export interface Streaming {
  readonly receiptId: string;
  /** Server-sent events. The provider is read only as this is read. */
  readonly events: ReadableStream<Uint8Array>;
  /** Resolves once the call is billed. */
  readonly billed: Promise<void>;
  readonly available: NanoUsdc | null;
}

interface StartedStream {
  readonly chunks: AsyncIterable<StreamChunk>;
  readonly retrieval: Retrieval | null;
  /** Null if each round of the retrieval has its own. */
  readonly budget: StreamBudget | null;
  /** The body that the provider was sent. */
  readonly sent: () => JsonValue;
}

/** Answers a chat call in a stream. A failure before the first chunk rejects, and costs nothing. */
export async function streamChat(context: PipelineContext, call: Call<ChatRequest>): Promise<Streaming> {
  const { request, incoming, signal, trail } = call;
  const admitted = await admitChat(context, call);
  const tried = await orRelease(context, admitted, call, () =>
    tryEach(
      { ...context, signal: signal.signal, incoming, trail, named: request.model !== AUTO },
      admitted.models,
      async (provider: Provider, model): Promise<StartedStream> => {
        const chatCall = {
          provider,
          model,
          translated: translatedFor(request, model),
          body: bodyFor(context, request, admitted.route.body, model),
          signal: signal.signal,
        };
        const native = nativeCallOf(context, request, admitted.route.body, provider, model);
        const answer = await provider.chat({ ...chatCall, model: model.upstreamModel, native });
        if (answer.kind !== 'stream')
          throw new ProviderError('bad_answer', `${provider.name} does not stream`);
        const { payer, route } = admitted;
        const sent = (): JsonValue => sentTo(chatCall, native);
        const retrieval = retrievalOf(context, request, payer.name, route, chatCall);
        if (retrieval !== null)
          return { retrieval, budget: null, sent, chunks: retrieveStream(retrieval, answer.chunks) };
        const budget = new StreamBudget(provider.name, streamLimit(context, request, model));
        return { retrieval, budget, sent, chunks: answer.chunks };
      },
    ),
  );
  const delivery = new Delivery(context, call, admitted, tried);
  const events = delivery.events();
  // Started, so that leaving it runs its end.
  await events.next();
  context.unbilled.add(delivery.billed);
  void delivery.billed.then(() => context.unbilled.delete(delivery.billed));
  return {
    receiptId: admitted.id,
    billed: delivery.billed,
    available: admitted.reservation.available,
    events: bodyOf(events, signal),
  };
}

/** Passes a stream on event by event, and bills what was passed on, however it ends. */
class Delivery {
  readonly #context: PipelineContext;
  readonly #call: Call<ChatRequest>;
  readonly #admitted: Admitted;
  readonly #tried: Tried<StartedStream>;
  readonly #encoder: StreamEncoder;
  /** Null where chunks pass as they came. */
  readonly #whole: WholeTexts | null;
  readonly #hash = createHash('sha256');
  readonly #said: Delivered;
  /** What was passed on, for a caller who has it kept. */
  readonly #kept: KeptAnswer | null;
  readonly #billing = Promise.withResolvers<void>();
  #reported: Reported = null;
  /** Whether any of the answer was passed on. */
  #begun = false;
  /** Whether the provider's answer came to its end. */
  #complete = false;
  /** When the provider's answer ended, in milliseconds of `performance.now()`. */
  #endedAt = 0;
  /** What the answer broke off with. */
  #failure: TallyError | null = null;
  /** The last event of a provider that speaks the caller's protocol, which carries `svc`. */
  #nativeEnd: SseEvent | null = null;
  /** The billed usage, once the answer has ended. */
  #rounds: Rounds | null = null;

  constructor(
    context: PipelineContext,
    call: Call<ChatRequest>,
    admitted: Admitted,
    tried: Tried<StartedStream>,
  ) {
    this.#context = context;
    this.#call = call;
    this.#admitted = admitted;
    this.#tried = tried;
    this.#encoder = call.request.protocol.stream(givenOf(context, call, admitted.id, tried.model));
    this.#whole = call.request.protocol.answerOf === null ? null : new WholeTexts();
    this.#said = new Delivered(tried.model.tokenizer);
    const { request } = call;
    this.#kept = isKept(context, { request, payer: admitted.payer }) ? new KeptAnswer() : null;
  }

  get billed(): Promise<void> {
    return this.#billing.promise;
  }

  async *events(): AsyncGenerator<Uint8Array, void, undefined> {
    let settled: Settled | null = null;
    let carrier: SseEvent | undefined;
    try {
      yield NOTHING;
      let failure: TallyError | null = null;
      try {
        yield* this.#chunks();
        this.#complete = true;
        this.#endedAt = performance.now();
        this.#context.health.success(this.#tried.model);
      } catch (error) {
        failure = this.#failed(error);
        this.#failure = failure;
        this.#call.incoming.tell({ code: failure.code });
      }
      const last = await this.#lastEvents(failure).catch(this.#report);
      if (last !== null) {
        if (this.#isOwed && (failure === null || this.#encoder.svcChunk === undefined)) carrier = last.pop();
        for (const event of last) yield this.#pass(event);
        if (!this.#isOwed) return;
        if (carrier !== undefined) await keepItems(this.#context, this.#call, carrier.data);
        settled = await this.#settle(carrier).catch(this.#report);
      }
      if (settled === null) for (const event of this.#encoder.fail(unbilled())) yield this.#pass(event);
      else yield* this.#end(settled, carrier);
    } finally {
      this.#call.signal.end();
      // The client has not got the protocol's own end of the answer.
      if (settled === null && carrier !== undefined && this.#encoder.svcChunk === undefined)
        this.#complete = false;
      if (settled !== null) this.#billing.resolve();
      else void this.#settleLate().finally(this.#billing.resolve);
    }
  }

  /** Whether the call is to be billed. A stream of which nothing was passed on costs nothing. */
  get #isOwed(): boolean {
    return this.#begun || this.#complete;
  }

  /** What follows the answer; nothing for a client that has left. */
  async #lastEvents(failure: TallyError | null): Promise<SseEvent[]> {
    if (this.#call.signal.left) return [];
    if (failure !== null) return [...this.#encoder.fail(failure)];
    if (this.#nativeEnd !== null) return [this.#nativeEnd];
    return [...this.#encoder.end(totalOf(await this.#usage()))];
  }

  /** Sends `svc`: in the last event, or in a chunk of its own, and before `[DONE]`. */
  async *#end(settled: Settled, carrier: SseEvent | undefined): AsyncGenerator<Uint8Array> {
    const payment = await this.#finish().catch(this.#report);
    const { explanation: routing } = this.#admitted.route.decision;
    const { explain } = this.#call.request;
    const svc = svcText({ ...settled, routing, served: this.#tried, payment, explain });
    if (carrier !== undefined) yield event(carrier.event, withSvc(canonicalize(carrier.data), svc));
    const chunk = this.#encoder.svcChunk?.();
    if (chunk === undefined) return;
    if (carrier === undefined) yield event(null, withSvc(JSON.stringify(chunk), svc));
    if (this.#complete) yield event(null, '[DONE]');
  }

  /**
   * Bills a stream that was abandoned, or whose first bill failed. If this bill fails too, the reservation ends at
   * once, and the bill is retried for a while, so that a delivery gets its receipt. A stream of which nothing was
   * passed on costs nothing.
   */
  async #settleLate(): Promise<void> {
    if (!this.#isOwed) {
      this.#listFailure(this.#failure ?? clientLeft());
      return void (await this.#release().catch(this.#report));
    }
    for (const wait of LATE_MS) {
      // A service that stops cannot wait.
      if (wait > 0) await sleep(wait, undefined, { signal: this.#context.stop }).catch(() => {});
      const settled = await this.#settle().catch(this.#report);
      if (settled !== null) return void (await this.#finish().catch(this.#report));
      await this.#giveBack().catch(this.#report);
    }
    this.#listFailure(unbilled());
    await this.#release().catch(this.#report);
  }

  #listFailure(error: TallyError): void {
    const { calls, clock } = this.#context;
    listFailure(calls, this.#call, error, clock());
  }

  async #giveBack(): Promise<void> {
    const { id } = this.#admitted.reservation;
    if (id !== null) await this.#context.ledger.release(id);
  }

  async #release(): Promise<void> {
    await this.#giveBack();
    await this.#admitted.payment?.finish(null);
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    const { includeUsage } = this.#call.request;
    const { chunks, budget } = this.#tried.answer;
    for await (const { text, json, unseen, native, last } of chunks) {
      budget?.take(text);
      if (json['usage'] !== undefined && json['usage'] !== null) {
        this.#reported = readUsage(json, unseen) ?? this.#reported;
        if (native === undefined && !includeUsage && isUsageChunk(json)) continue;
      }
      this.#said.add(json);
      this.#kept?.add(json);
      if (this.#said.isFull) await this.#said.settle();
      const events = native ?? this.#encoder.take(this.#whole?.take(json, text) ?? json, text);
      if (last) this.#nativeEnd = native?.at(-1) ?? null;
      for (const event of events) {
        if (event === this.#nativeEnd) continue;
        if (native !== undefined) this.#encoder.passed?.(event.data);
        if (!this.#begun) this.#call.trail.begins();
        this.#begun = true;
        yield this.#pass(event);
      }
    }
  }

  /** Logs a failure of the stream, and returns the caller's error. */
  #failed(error: unknown): TallyError {
    if (error instanceof ProviderError) {
      this.#context.health.failure(this.#tried.model, this.#call.signal.reason(error));
      return failureOf(this.#call.signal, error);
    }
    const { requestId } = this.#call.incoming;
    this.#context.logger.error({ requestId, err: error }, 'a stream broke');
    return new TallyError(
      'internal',
      'The answer broke off because of a fault in this service. Send the call again.',
    );
  }

  /** Adds an event's payload to the response hash. */
  #pass({ event: name, data, text = JSON.stringify(data) }: SseEvent): Uint8Array {
    this.#hash.update(text).update('\n');
    return event(name, text);
  }

  /** The billed usage of an answer that has ended. */
  async #usage(): Promise<Rounds> {
    if (this.#rounds !== null) return this.#rounds;
    const { model } = this.#tried;
    const { retrieval } = this.#tried.answer;
    const prompt = retrieval?.prompt ?? this.#admitted.route.prompt;
    const limit = askedOutput(this.#context, this.#call.request, model);
    // The provider's count of a cut answer is for another length than what was passed on.
    const whole = retrieval?.last ?? { usage: this.#reported, delivered: this.#said };
    const last = this.#complete ? whole : { usage: null, delivered: this.#said };
    const usage = await usageOf(last.usage, { model, prompt, delivered: last.delivered, limit });
    this.#rounds = roundsOf(retrieval?.spent ?? [], usage);
    return this.#rounds;
  }

  /** @param carrier the event that will carry `svc`; the response hash covers it in canonical form */
  async #settle(carrier?: SseEvent): Promise<Settled> {
    const { id, payer, reservation, payment, tier, route } = this.#admitted;
    const { model } = this.#tried;
    const hash = this.#hash.copy();
    if (carrier !== undefined) hash.update(canonicalize(carrier.data)).update('\n');
    const ended = {
      id,
      incoming: this.#call.incoming,
      trail: this.#call.trail,
      errorCode: this.#complete ? null : (this.#failure?.code ?? 'client_closed'),
      reservation,
      payment,
      model,
      request: this.#call.request,
      rounds: await this.#usage(),
      compression: summaryOf(this.#call.request, route),
      requestHash: hashRequest(this.#call.request),
      responseHash: hash.digest('hex'),
      stream: true,
      complete: this.#complete,
      payer,
      tier,
      keyed: keyedBy(payer, this.#call.request),
      lesson: lessonOf(this.#call.request, route, {
        account: payer.name,
        limit: askedOutput(this.#context, this.#call.request, model),
        stream: true,
        times: { ...this.#tried.times, ended: this.#endedAt },
      }),
      content: () => ({ sent: this.#tried.answer.sent(), answer: this.#keptText() }),
    };
    return settleCall(this.#context, ended, () => this.#call.claim);
  }

  /** JSON text of what was passed on, as one chat completion; null where it is too long to be kept. */
  #keptText(): string | null {
    const completion = this.#kept?.completion(this.#tried.model.id) ?? null;
    return completion && JSON.stringify(completion);
  }

  /** Charges the x402 payment with the bill. The headers are sent by now, so the last chunk reports it. */
  async #finish(): Promise<JsonObject | null> {
    const { id, payment } = this.#admitted;
    return payment === null ? null : payment.finish(id);
  }

  readonly #report = (error: unknown): null => {
    const receipt = this.#admitted.id;
    const { requestId } = this.#call.incoming;
    this.#context.logger.error({ requestId, receipt, err: error }, 'a stream could not be billed');
    return null;
  };
}

const NOTHING = new Uint8Array();

function clientLeft(): TallyError {
  return new TallyError('client_closed', 'The client closed the connection.');
}

function unbilled(): TallyError {
  return new TallyError(
    'unavailable',
    'The answer could not be billed yet. Its receipt will be at /v1/receipt/<X-Receipt-Id>.',
  );
}

/** A payload of several lines becomes several `data` lines, which the reader joins again. */
function event(name: string | null, payload: string): Uint8Array {
  const data = payload.includes('\n') ? payload.replaceAll('\n', '\ndata: ') : payload;
  return Buffer.from(`${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`);
}
