import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Usage } from '../types.ts';
import { formatUsage } from './usage.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** The members that identify an OpenAI answer. */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

export interface CompletionText {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage: Usage | null;
}

/** An OpenAI `chat.completion` of one choice. */
export function completion({ id, created, model }: AnswerHead, answer: CompletionText): JsonObject {
  const { text, toolCalls, finish, usage } = answer;
  const message: JsonObject = { role: 'assistant', content: text, refusal: null };
  if (toolCalls.length > 0) {
    message['content'] = text === '' ? null : text;
    message['tool_calls'] = toolCalls.map(formatToolCall);
  }
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(usage !== null && { usage: formatUsage(usage) }),
  };
}

export function formatToolCall({ id, name, arguments: text }: ToolCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: text } };
}

/** An OpenAI `chat.completion.chunk` with the new part of the one choice. */
export function deltaChunk(
  head: AnswerHead,
  delta: JsonObject,
  finish: FinishReason | null = null,
): JsonObject {
  return chunk(head, [{ index: 0, delta, logprobs: null, finish_reason: finish }], null);
}

/** The chunk that OpenAI sends last if usage was requested. */
export function usageChunk(head: AnswerHead, usage: Usage): JsonObject {
  return chunk(head, [], formatUsage(usage));
}

function chunk(
  { id, created, model }: AnswerHead,
  choices: JsonValue[],
  usage: JsonObject | null,
): JsonObject {
  return { id, object: 'chat.completion.chunk', created, model, choices, usage };
}
