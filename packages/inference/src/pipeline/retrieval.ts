import type { JsonObject } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import { isRetrieveCall, wantedBy } from '../compression/retrieve-tool.ts';
import type { Removed } from '../compression/task.ts';
import { asText, objectsOf } from '../providers/members.ts';
import { type ChatAnswer, type Provider, ProviderError } from '../providers/provider.ts';
import { callWithRetries, type RetryPolicy } from '../resilience/retries.ts';
import type { ChatBody, Reported, Usage } from '../types.ts';
import type { Compressor } from './compressor-interface.ts';
import { type Delivered, deliveredOf } from './delivered-text.ts';
import { StreamBudget } from './stream-limit.ts';
import { type Prompt, promptOf } from './token-bound.ts';
import { usageOf } from './usage-of.ts';

/** How often a model may ask for what was cut before it answers; where nothing was, to learn that. */
const MAX_ROUNDS = 3;
const MAX_IDLE_ROUNDS = 1;
/** Tokens that a model gets back at once, about. */
export const MAX_RESULT_TOKENS = 8_000;

export function maxRounds(removed: readonly Removed[]): number {
  return removed.length > 0 ? MAX_ROUNDS : MAX_IDLE_ROUNDS;
}

interface RetrievalDependencies {
  readonly compressor: Pick<Compressor, 'excerpt'>;
  readonly retryPolicy: RetryPolicy;
  readonly account: string;
  readonly removed: readonly Removed[];
  /** The output tokens that one round may have. */
  readonly maxOutput: number;
  /** Most bytes of payload in one round, where the answer is streamed. */
  readonly maxStreamBytes: number;
}

/** Where the answer to go on from came from. */
export interface RetrievalRequest {
  readonly provider: Provider;
  readonly model: Model;
  readonly body: ChatBody;
  readonly signal: AbortSignal;
}

/**
 * Answers the calls of `svc_retrieve` in one call's stead of the caller, from the messages that came with it, and asks
 * the same model again. Knows no text but those: an id that is not among them is answered so.
 */
export class Retrieval {
  readonly #means: RetrievalDependencies;
  readonly #asked: RetrievalRequest;
  readonly #spent: Usage[] = [];
  /** The round that the caller sees, where that is a stream: what was said and what the provider counted of it; null before. */
  last: { readonly usage: Reported; readonly delivered: Delivered } | null = null;
  #body: ChatBody;

  constructor(means: RetrievalDependencies, asked: RetrievalRequest) {
    this.#means = means;
    this.#asked = asked;
    this.#body = asked.body;
  }

  /** What the rounds took that are over and that the caller does not see. */
  get spent(): readonly Usage[] {
    return this.#spent;
  }

  get model(): Model {
    return this.#asked.model;
  }

  /** Of the round that is under way. */
  get prompt(): Prompt {
    return promptOf(this.#body);
  }

  /** A fresh budget for the stream of one round. */
  budget(): StreamBudget {
    return new StreamBudget(this.model.provider, this.#means.maxStreamBytes);
  }

  /** Whether another round may follow. */
  get mayGoOn(): boolean {
    return this.#spent.length < maxRounds(this.#means.removed);
  }

  /**
   * Answers a turn whose tool calls are all of `svc_retrieve`.
   * @param turn the assistant's message
   * @throws ProviderError
   */
  async goOn(turn: JsonObject, reported: Reported, delivered: Delivered): Promise<ChatAnswer> {
    const { provider, model, signal } = this.#asked;
    const { retryPolicy } = this.#means;
    this.#spent.push(
      await usageOf(reported, { model, prompt: this.prompt, delivered, limit: this.#means.maxOutput }),
    );
    const calls = objectsOf(turn['tool_calls']);
    const results = await Promise.all(calls.map((call) => this.#resultOf(call, calls.length)));
    const messages = [...objectsOf(this.#body['messages']), turn, ...results];
    const last = !this.mayGoOn && objectsOf(this.#body['tools']).length === 1;
    this.#body = { ...this.#body, messages, ...(last && { tool_choice: 'none' }) };
    const ask = { model: model.upstreamModel, body: this.#body, signal };
    const answer = await callWithRetries(() => provider.chat(ask), { signal, policy: retryPolicy });
    const streams = this.#body['stream'] === true;
    if ((answer.kind === 'stream') === streams) return answer;
    throw new ProviderError('bad_answer', `${provider.name} answers differently from before`);
  }

  async #resultOf(call: JsonObject, among: number): Promise<JsonObject> {
    return {
      role: 'tool',
      tool_call_id: asText(call['id']) ?? '',
      content: await this.#textFor(call, Math.floor(MAX_RESULT_TOKENS / among)),
    };
  }

  async #textFor(call: JsonObject, maxTokens: number): Promise<string> {
    const { removed, compressor, account } = this.#means;
    const wanted = wantedBy(call);
    if (wanted === null) return 'Give the arguments as JSON: {"id": "…"}.';
    const found = removed.find(({ id }) => id === wanted.id);
    if (found?.original === undefined || found.original === null)
      return `Nothing was cut from this conversation under the id ${wanted.id.slice(0, 40)}.`;
    return compressor.excerpt({ text: found.original, query: wanted.query, maxTokens, account });
  }
}

/** What became of an answer in one piece. */
interface Final {
  readonly body: JsonObject;
  readonly usage: Reported;
}

/** The answer that the caller is given, in one piece. @throws ProviderError */
export async function retrieveAll(
  retrieval: Retrieval,
  first: Extract<ChatAnswer, { kind: 'complete' }>,
): Promise<Final> {
  let answer = first;
  for (;;) {
    const [choice] = objectsOf(answer.body['choices']);
    const turn = choice?.['message'] as JsonObject | undefined;
    const calls = objectsOf(turn?.['tool_calls']);
    const own = calls.filter((call) => !isRetrieveCall(call));
    if (turn === undefined || own.length === calls.length) return answer;
    if (own.length > 0 || !retrieval.mayGoOn) return { ...answer, body: without(answer.body, own) };
    const { body, usage } = answer;
    const next = await retrieval.goOn(turn, usage, deliveredOf(body, retrieval.model.tokenizer));
    if (next.kind === 'stream') throw new ProviderError('bad_answer', 'a stream that was not asked for');
    answer = next;
  }
}

/** An answer of one choice whose turn has only the caller's own tool calls. */
function without(body: JsonObject, own: readonly JsonObject[]): JsonObject {
  const [choice = {}] = objectsOf(body['choices']);
  const { tool_calls: _calls, ...message } = choice['message'] as JsonObject;
  const ends = own.length > 0 ? {} : { finish_reason: 'stop' };
  const said =
    own.length > 0 ? { ...message, tool_calls: [...own] } : { ...message, content: message['content'] ?? '' };
  return { ...body, choices: [{ ...choice, message: said, ...ends }] };
}
