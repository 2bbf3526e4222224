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
import { asObject, asText, objectsOf } from './members.ts';
import { formatUsage, tokenCount } from './usage.ts';

/** An answer of `/api/chat` as an OpenAI `chat.completion`. Thinking is left out. */
export function completionOf(answer: JsonObject, created: number): { body: JsonObject; usage: Usage | null } {
  const message = asObject(answer['message']) ?? {};
  const toolCalls = toolCallsOf(message);
  const counted = ollamaUsage(answer);
  const usage = counted && thinks(message) ? { ...counted, hidden: 'unknown' as const } : counted;
  const finish = finishReason(answer, toolCalls.length > 0);
  const text = asText(message['content']) ?? '';
  return { body: completion(newHead(answer, created), { text, toolCalls, finish, usage }), usage };
}

/** Converts the lines of a streamed `/api/chat` answer, one after another, to OpenAI `chat.completion.chunk`s. */
export class OllamaStream {
  readonly #created: number;
  #head: AnswerHead | null = null;
  #toolCalls = 0;
  /** Whether the model produced something that is left out here. */
  unseen = false;
  /** Whether the last line has arrived. */
  ended = false;

  constructor(created: number) {
    this.#created = created;
  }

  take(line: JsonObject): JsonObject[] {
    const chunks: JsonObject[] = [];
    if (this.#head === null) {
      this.#head = newHead(line, this.#created);
      chunks.push(deltaChunk(this.#head, { role: 'assistant', content: '' }));
    }
    const head = this.#head;
    const message = asObject(line['message']) ?? {};
    this.unseen ||= thinks(message);
    const content = asText(message['content']);
    if (content) chunks.push(deltaChunk(head, { content }));
    for (const call of toolCallsOf(message)) {
      chunks.push(deltaChunk(head, { tool_calls: [{ index: this.#toolCalls, ...formatToolCall(call) }] }));
      this.#toolCalls += 1;
    }
    if (line['done'] !== true) return chunks;
    this.ended = true;
    chunks.push(deltaChunk(head, {}, finishReason(line, this.#toolCalls > 0)));
    const usage = ollamaUsage(line);
    if (usage !== null) chunks.push(usageChunk(head, usage));
    return chunks;
  }
}

/** Thinking is counted with the answer, not separately. */
function thinks(message: JsonObject): boolean {
  return (asText(message['thinking']) ?? '') !== '';
}

/** An answer of `/api/embed` as an OpenAI embeddings response. */
export function embeddingsOf(
  answer: JsonObject,
  vectors: readonly number[][],
  base64: boolean,
): { body: JsonObject; usage: Usage | null } {
  const promptTokens = tokenCount(answer['prompt_eval_count']);
  const usage =
    promptTokens === null ? null : { promptTokens, completionTokens: 0, cachedTokens: 0, estimated: false };
  const data: JsonValue[] = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: base64 ? littleEndianFloats(vector) : vector,
  }));
  const body = { object: 'list', data, model: asText(answer['model']) ?? '' };
  return { body: usage === null ? body : { ...body, usage: formatUsage(usage) }, usage };
}

function littleEndianFloats(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

function newHead(answer: JsonObject, created: number): AnswerHead {
  return { id: `chatcmpl-${randomUUID()}`, created, model: asText(answer['model']) ?? '' };
}

/** In this API, calls are whole, with their arguments as an object and without an id. */
function toolCallsOf(message: JsonObject): ToolCall[] {
  return objectsOf(message['tool_calls']).map((call) => {
    const { name, arguments: input } = asObject(call['function']) ?? {};
    return {
      id: asText(call['id']) ?? `call_${randomUUID()}`,
      name: asText(name) ?? '',
      arguments: JSON.stringify(input ?? {}),
    };
  });
}

function finishReason(answer: JsonObject, calledTools: boolean): FinishReason {
  if (answer['done_reason'] === 'length') return 'length';
  return calledTools ? 'tool_calls' : 'stop';
}

/** This API does not count a prompt that the server still has in memory: then there is no usage to report. */
function ollamaUsage(answer: JsonObject): Usage | null {
  const promptTokens = tokenCount(answer['prompt_eval_count']);
  const completionTokens = tokenCount(answer['eval_count']);
  if (promptTokens === null || completionTokens === null) return null;
  return { promptTokens, completionTokens, cachedTokens: 0, estimated: false };
}
