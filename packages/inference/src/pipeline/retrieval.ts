import type { JsonObject } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import { argumentsOf, isRetrieveCall } from '../compression/retrieve-tool.ts';
import type { Removed } from '../compression/task.ts';
import { asText, objectsOf } from '../providers/members.ts';
import { type ChatAnswer, type ChatCall, type Provider, ProviderError } from '../providers/provider.ts';
import { callWithRetries, type RetryPolicy } from '../resilience/retries.ts';
import type { ChatBody, Reported, Usage } from '../types.ts';
import type { Compressor } from './compressor-interface.ts';
import { type Delivered, deliveredOf } from './delivered-text.ts';
import { StreamBudget } from './stream-limit.ts';
import { type Prompt, promptOf } from './token-bound.ts';
import { usageOf } from './usage-of.ts';

/** How often a model may ask for removed text before it answers; if nothing was removed, once, to learn that. */
const MAX_ROUNDS = 3;
const MAX_IDLE_ROUNDS = 1;
/** Approximate number of tokens that a model gets back at once. */
export const MAX_RESULT_TOKENS = 8_000;

export function maxRounds(removed: readonly Removed[]): number {
  return removed.length > 0 ? MAX_ROUNDS : MAX_IDLE_ROUNDS;
}

interface RetrievalDependencies {
  readonly compressor: Pick<Compressor, 'excerpt'>;
  readonly retryPolicy: RetryPolicy;
  readonly account: string;
  readonly removed: readonly Removed[];
  /** The most output tokens of one round. */
  readonly maxOutput: number;
  /** Most bytes of one round's payloads, if the answer is streamed. */
  readonly maxStreamBytes: number;
}

/** The provider's call that the next round continues. */
export interface RetrievalRequest {
  readonly provider: Provider;
  readonly model: Model;
  readonly body: ChatBody;
  readonly translated: ChatCall['translated'];
  readonly signal: AbortSignal;
}

/**
 * Answers the calls of `svc_retrieve` within one call, from the caller's messages, and calls the same model again. It
 * knows only those messages, and answers an unknown id with that fact.
 */
export class Retrieval {
  readonly #dependencies: RetrievalDependencies;
  readonly #request: RetrievalRequest;
  readonly #spent: Usage[] = [];
  /** Numbers of the units that the model was given, by the id of their block. */
  readonly #given = new Map<string, Set<number>>();
  /** The last round of a stream that the caller sees, with what it delivered and the provider's count; null before. */
  last: { readonly usage: Reported; readonly delivered: Delivered } | null = null;
  #body: ChatBody;

  constructor(dependencies: RetrievalDependencies, request: RetrievalRequest) {
    this.#dependencies = dependencies;
    this.#request = request;
    this.#body = request.body;
  }

  /** Usage of the finished rounds that the caller does not see. */
  get spent(): readonly Usage[] {
    return this.#spent;
  }

  get model(): Model {
    return this.#request.model;
  }

  /** The prompt of the current round. */
  get prompt(): Prompt {
    return promptOf(this.#body);
  }

  /** A new byte budget for the stream of one round. */
  budget(): StreamBudget {
    return new StreamBudget(this.model.provider, this.#dependencies.maxStreamBytes);
  }

  /** Whether another round may follow. */
  get mayGoOn(): boolean {
    return this.#spent.length < maxRounds(this.#dependencies.removed);
  }

  /** Answers a turn whose tool calls are all of `svc_retrieve`. @param turn the assistant's message @throws ProviderError */
  async goOn(turn: JsonObject, reported: Reported, delivered: Delivered): Promise<ChatAnswer> {
    const { provider, model, translated, signal } = this.#request;
    const { retryPolicy } = this.#dependencies;
    this.#spent.push(
      await usageOf(reported, { model, prompt: this.prompt, delivered, limit: this.#dependencies.maxOutput }),
    );
    const calls = objectsOf(turn['tool_calls']);
    const results: JsonObject[] = [];
    // One after the other, so that none gives what another has given.
    for (const call of calls) results.push(await this.#resultOf(call, calls.length));
    const messages = [...objectsOf(this.#body['messages']), turn, ...results];
    const last = !this.mayGoOn && objectsOf(this.#body['tools']).length === 1;
    this.#body = { ...this.#body, messages, ...(last && { tool_choice: 'none' }) };
    const ask = { model: model.upstreamModel, body: this.#body, translated, signal };
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
    const { removed, compressor, account } = this.#dependencies;
    const wanted = argumentsOf(call);
    if (wanted === null) return 'Give the arguments as JSON: {"id": "…"}.';
    const { id } = wanted;
    const found = removed.find((one) => one.id === id);
    if (found === undefined || found.cut === null)
      return `Nothing was cut from this conversation under the id ${id.slice(0, 40)}.`;
    const given = this.#given.get(id) ?? new Set();
    this.#given.set(id, given);
    const { unit, cut } = found;
    const excerpt = await compressor.excerpt({ id, unit, ...cut, wanted, given, maxTokens, account });
    for (const number of excerpt.given) given.add(number);
    return excerpt.text;
  }
}

/** The final answer in one piece. */
type Final = Pick<Extract<ChatAnswer, { kind: 'complete' }>, 'body' | 'usage' | 'native'>;

/** The answer for the caller, in one piece. @throws ProviderError */
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

/** An answer of one choice with only the caller's own tool calls. */
function without(body: JsonObject, own: readonly JsonObject[]): JsonObject {
  const [choice = {}] = objectsOf(body['choices']);
  const { tool_calls: _calls, ...message } = choice['message'] as JsonObject;
  const ends = own.length > 0 ? {} : { finish_reason: 'stop' };
  const shown =
    own.length > 0 ? { ...message, tool_calls: [...own] } : { ...message, content: message['content'] ?? '' };
  return { ...body, choices: [{ ...choice, message: shown, ...ends }] };
}
