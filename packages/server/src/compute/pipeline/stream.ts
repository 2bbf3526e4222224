import { createHash } from 'node:crypto';
import type { JsonObject } from '@tallystick/core';
import { openAiErrorOf } from '../../http/openai-error.ts';
import type { NanoUsdc } from '../../store/ledger-store.ts';
import type { Provider, StreamChunk } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider.ts';
import { isUsageChunk, readUsage } from '../providers/usage.ts';
import type { Usage } from '../types.ts';
import { type Admitted, admitChat, bodyFor } from './admit.ts';
import { alreadyAnswered } from './already-answered.ts';
import { type Tried, tryEach } from './attempt.ts';
import { hashRequest } from './call-receipt.ts';
import type { ChatRequest } from './chat-request.ts';
import { type Call, orRelease, retrievalOf, roundsOf, summaryOf } from './complete.ts';
import type { PipelineContext } from './context.ts';
import { DeliveredText } from './delivered.ts';
import { publicFailure } from './provider-failure.ts';
import type { Retrieval } from './retrieval.ts';
import { retrieveStream } from './retrieval-stream.ts';
import { type Settled, settleCall } from './settle.ts';
import { svcText, withSvc } from './svc.ts';
import { usageOf } from './usage-of.ts';

/** A stream that has begun. */
export interface Streaming {
  readonly receiptId: string;
  /** Server-sent events. Nothing is read from the provider before it is asked for here. */
  readonly events: ReadableStream<Uint8Array>;
  /** Resolves once the call is billed. */
  readonly billed: Promise<void>;
  /** See `Reservation`. */
  readonly available: NanoUsdc | null;
}

interface Begun {
  readonly chunks: AsyncIterable<StreamChunk>;
  readonly retrieval: Retrieval | null;
}

/** Answers a chat call in a stream. What fails before its first chunk rejects here, and nobody pays for it. */
export async function streamChat(context: PipelineContext, call: Call<ChatRequest>): Promise<Streaming> {
  const { request, caller, signal, open } = call;
  const admitted = await admitChat(context, request, caller, open);
  const tried = await orRelease(context, admitted, call, () =>
    tryEach(
      { ...context, signal: signal.signal },
      admitted.models,
      async (provider: Provider, model): Promise<Begun> => {
        const asked = {
          provider,
          model,
          body: bodyFor(context, request, admitted.route.body, model),
          signal: signal.signal,
        };
        const answer = await provider.chat({ ...asked, model: model.upstreamModel });
        if (answer.kind !== 'stream')
          throw new ProviderError('bad_answer', `${provider.name} does not stream`);
        const { payer, route } = admitted;
        const retrieval = retrievalOf(context, request, payer.account, route, asked);
        return {
          retrieval,
          chunks: retrieval === null ? answer.chunks : retrieveStream(retrieval, answer.chunks),
        };
      },
    ),
  );
  const delivery = new Delivery(context, call, admitted, tried);
  const events = delivery.events();
  context.unbilled.add(delivery.billed);
  void delivery.billed.then(() => context.unbilled.delete(delivery.billed));
  return {
    receiptId: admitted.id,
    billed: delivery.billed,
    available: admitted.reservation.available,
    events: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await events.next();
          if (done === true) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          signal.leave();
          await events.return(undefined);
        },
      },
      { highWaterMark: 0 },
    ),
  };
}

/** Passes a stream on chunk by chunk, and bills what was passed on, however it ends. */
class Delivery {
  readonly #context: PipelineContext;
  readonly #call: Call<ChatRequest>;
  readonly #admitted: Admitted;
  readonly #tried: Tried<Begun>;
  readonly #hash = createHash('sha256');
  readonly #said = new DeliveredText();
  readonly #billing = Promise.withResolvers<void>();
  #reported: Usage | null = null;
  #first: JsonObject = {};

  constructor(context: PipelineContext, call: Call<ChatRequest>, admitted: Admitted, tried: Tried<Begun>) {
    this.#context = context;
    this.#call = call;
    this.#admitted = admitted;
    this.#tried = tried;
  }

  get billed(): Promise<void> {
    return this.#billing.promise;
  }

  async *events(): AsyncGenerator<Uint8Array, void, undefined> {
    let settled: Settled | null = null;
    let complete = false;
    try {
      let failure: ProviderError | null = null;
      try {
        yield* this.#chunks();
        complete = true;
        this.#context.health.success(this.#tried.model);
      } catch (error) {
        failure = this.#failed(error);
      }
      if (failure !== null && !this.#call.signal.left) yield this.#errorEvent(failure);
      settled = await this.#settle(complete);
      const payment = await this.#finish(settled);
      if (settled.replayed !== null) {
        // The same key had another stream meanwhile, in another process: that one is billed and has the receipt.
        yield event(JSON.stringify({ error: openAiErrorOf(alreadyAnswered(settled.replayed)) }));
        return;
      }
      yield event(this.#svcChunk(settled, payment));
      if (complete) yield event('[DONE]');
    } catch (error) {
      this.#context.logger.error({ err: error }, 'a stream could not be billed');
      throw error;
    } finally {
      this.#call.signal.end();
      if (settled === null) await this.#settle(complete).then(this.#finish).catch(this.#report);
      this.#billing.resolve();
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    const { includeUsage } = this.#call.request;
    let begun = false;
    for await (const { text, json } of this.#tried.answer.chunks) {
      if (!begun) this.#first = json;
      begun = true;
      if (json['usage'] !== undefined && json['usage'] !== null) {
        this.#reported = readUsage(json['usage']);
        if (!includeUsage && isUsageChunk(json)) continue;
      }
      this.#said.add(json);
      yield this.#payload(text);
    }
  }

  #failed(error: unknown): ProviderError {
    if (!(error instanceof ProviderError)) throw error;
    const reason = this.#call.signal.reason(error);
    this.#context.health.failure(this.#tried.model, reason);
    return reason;
  }

  #errorEvent(failure: ProviderError): Uint8Array {
    const error = publicFailure(failure, {});
    return this.#payload(JSON.stringify({ error: openAiErrorOf(error) }));
  }

  /** A payload that the response hash covers. */
  #payload(text: string): Uint8Array {
    this.#hash.update(text).update('\n');
    return event(text);
  }

  async #settle(complete: boolean): Promise<Settled> {
    const { id, payer, reservation, payment, tier, route } = this.#admitted;
    const { model } = this.#tried;
    const { retrieval } = this.#tried.answer;
    const prompt = retrieval?.prompt ?? route.prompt;
    // What a provider counted of an answer that was cut off is of another length than what was passed on.
    const reported = complete ? (retrieval?.usage ?? this.#reported) : null;
    const usage = await usageOf(reported, { model, prompt, delivered: () => this.#said.text() });
    const ended = {
      id,
      reservation,
      payment,
      model,
      requestedModel: this.#call.request.model,
      rounds: roundsOf(retrieval?.spent ?? [], usage),
      compression: summaryOf(this.#call.request, route),
      requestHash: hashRequest(this.#call.request),
      responseHash: this.#hash.copy().digest('hex'),
      stream: true,
      complete,
      agent: payer.agent,
      accountKind: payer.kindOf,
      subject: payer.subject,
      tier,
      keyed: payer.key && { key: payer.key, anchor: this.#call.request.anchor },
    };
    return settleCall(this.#context, ended, () => this.#call.claim);
  }

  /** Takes of the x402 payment what was billed; its headers are gone by now, so the last chunk says it. */
  readonly #finish = async ({ replayed }: Settled): Promise<JsonObject | null> => {
    const { id, payment } = this.#admitted;
    return payment === null ? null : payment.finish(replayed === null ? id : null);
  };

  /** Of the stream's own kind, without choices. */
  #svcChunk(settled: Settled, payment: JsonObject | null): string {
    const { id = '', created = 0, model = '' } = this.#first;
    const { route } = this.#admitted;
    const routing = JSON.stringify(route.decision.explanation);
    const head = { id, object: 'chat.completion.chunk', created, model, choices: [] };
    return withSvc(JSON.stringify(head), svcText({ ...settled, routing, served: this.#tried, payment }));
  }

  readonly #report = (error: unknown): void => {
    this.#context.logger.error({ err: error }, 'a stream that ended early could not be billed');
  };
}

/** A payload of several lines is several `data` lines, which its reader joins again. */
function event(payload: string): Uint8Array {
  const data = payload.includes('\n') ? payload.replaceAll('\n', '\ndata: ') : payload;
  return Buffer.from(`data: ${data}\n\n`);
}
