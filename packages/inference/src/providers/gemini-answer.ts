import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Usage } from '../types.ts';
import {
  type AnswerHead,
  completion,
  deltaChunk,
  type FinishReason,
  formatToolCall,
  type ToolCall,
  usageChunk,
} from './completion.ts';
import { badAnswer } from './failures.ts';
import { geminiReasoning } from './gemini-request.ts';
import { asObject, asText, objectsOf } from './members.ts';
import { tokenCount } from './usage.ts';

/** All other reasons are blocks of some kind, of which the native one is told too. */
const finishReasons: Readonly<Record<string, FinishReason>> = { STOP: 'stop', MAX_TOKENS: 'length' };

/** What one response of the Gemini API, whole or a part of a stream, says. */
interface Said {
  readonly text: string;
  readonly thoughts: string;
  /** Of the text, not of a tool call. */
  readonly signature: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** The native reason; null if the answer goes on. */
  readonly finish: string | null;
}

/** A `GenerateContentResponse` as an OpenAI `chat.completion`. @throws ProviderError bad_answer */
export function completionOf(
  provider: string,
  response: JsonObject,
  created: number,
): { body: JsonObject; usage: Usage | null } {
  const { text, thoughts, signature, toolCalls, finish } = read(provider, response);
  if (finish === null) throw badAnswer(provider);
  const usage = geminiUsage(response);
  const body = completion(headOf(response, created), {
    text,
    toolCalls,
    usage,
    ...finishOf(finish, toolCalls.length > 0),
    reasoning: reasoningOf(thoughts, signature),
  });
  return { body, usage };
}

/** Converts the responses of `streamGenerateContent`, one after another, to OpenAI `chat.completion.chunk`s. */
export class GeminiStream {
  readonly #provider: string;
  readonly #created: number;
  #head: AnswerHead | null = null;
  #usage: Usage | null = null;
  #toolCalls = 0;
  /** Whether the answer is complete; the stream itself has no mark of its end. */
  finished = false;

  /** @param created seconds since 1970 */
  constructor(provider: string, created: number) {
    this.#provider = provider;
    this.#created = created;
  }

  /** @throws ProviderError bad_answer */
  take(response: JsonObject): JsonObject[] {
    const chunks: JsonObject[] = [];
    if (this.#head === null) {
      this.#head = headOf(response, this.#created);
      chunks.push(deltaChunk(this.#head, { role: 'assistant', content: '' }));
    }
    const head = this.#head;
    const { text, thoughts, signature, toolCalls, finish } = read(this.#provider, response);
    const reasoning = reasoningOf(thoughts, signature);
    if (reasoning !== null) chunks.push(deltaChunk(head, reasoning));
    if (text !== '') chunks.push(deltaChunk(head, { content: text }));
    for (const call of toolCalls)
      chunks.push(deltaChunk(head, { tool_calls: [{ index: this.#toolCalls++, ...formatToolCall(call) }] }));
    this.#usage = geminiUsage(response) ?? this.#usage;
    if (finish !== null && !this.finished) {
      this.finished = true;
      const { finish: reason, nativeFinish } = finishOf(finish, this.#toolCalls > 0);
      chunks.push(deltaChunk(head, {}, reason, nativeFinish));
    }
    return chunks;
  }

  /** The chunk after the last response. */
  end(): JsonObject[] {
    return this.#head === null || this.#usage === null ? [] : [usageChunk(this.#head, this.#usage)];
  }
}

/** A prompt that is blocked has no candidates, but a reason. */
function read(provider: string, response: JsonObject): Said {
  const [candidate] = objectsOf(response['candidates']);
  const blocked = asText(asObject(response['promptFeedback'])?.['blockReason']);
  const parts = objectsOf(asObject(candidate?.['content'])?.['parts']);
  const texts = parts.filter((part) => typeof part['text'] === 'string');
  const calls = parts.filter((part) => asObject(part['functionCall']) !== null);
  if (texts.length + calls.length < parts.length) throw badAnswer(provider);
  const textOf = (thought: boolean): string =>
    texts.map((part) => ((part['thought'] === true) === thought ? asText(part['text']) : '')).join('');
  return {
    text: textOf(false),
    thoughts: textOf(true),
    signature: asText(texts.findLast((part) => part['thoughtSignature'] !== undefined)?.['thoughtSignature']),
    toolCalls: calls.map(toolCallOf),
    finish: asText(candidate?.['finishReason']) ?? (candidate === undefined ? blocked : null),
  };
}

function toolCallOf(part: JsonObject): ToolCall {
  const { id, name, args } = asObject(part['functionCall']) ?? {};
  const signature = asText(part['thoughtSignature']);
  return {
    id: asText(id) ?? `call_${randomUUID()}`,
    name: asText(name) ?? '',
    arguments: JSON.stringify(args ?? {}),
    ...(signature !== null && { extra: { google: { thought_signature: signature } } }),
  };
}

function reasoningOf(thoughts: string, signature: string | null): JsonObject | null {
  const details: JsonValue[] = [];
  const format = geminiReasoning;
  if (thoughts !== '') details.push({ type: 'reasoning.summary', summary: thoughts, format });
  if (signature !== null) details.push({ type: 'reasoning.encrypted', data: signature, format });
  return details.length === 0 ? null : { reasoning_details: details };
}

function finishOf(
  native: string,
  calledTools: boolean,
): { finish: FinishReason; nativeFinish: string | null } {
  const known = finishReasons[native];
  if (known === undefined) return { finish: 'content_filter', nativeFinish: native };
  return { finish: known === 'stop' && calledTools ? 'tool_calls' : known, nativeFinish: null };
}

function headOf(response: JsonObject, created: number): AnswerHead {
  return {
    id: asText(response['responseId']) ?? `chatcmpl-${randomUUID()}`,
    created,
    model: asText(response['modelVersion']) ?? '',
  };
}

/** In this API, thoughts are not among the tokens of the candidates, and a count of zero is left out. */
function geminiUsage(response: JsonObject): Usage | null {
  const counts = asObject(response['usageMetadata']);
  const prompt = tokenCount(counts?.['promptTokenCount']);
  const ofTools = tokenCount(counts?.['toolUsePromptTokenCount'] ?? 0);
  const answer = tokenCount(counts?.['candidatesTokenCount'] ?? 0);
  const thoughts = tokenCount(counts?.['thoughtsTokenCount'] ?? 0);
  const cachedTokens = tokenCount(counts?.['cachedContentTokenCount'] ?? 0);
  if (prompt === null || ofTools === null || answer === null || thoughts === null || cachedTokens === null)
    return null;
  return {
    promptTokens: prompt + ofTools,
    completionTokens: answer + thoughts,
    cachedTokens,
    ...(thoughts > 0 && { hidden: thoughts }),
    estimated: false,
  };
}
