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
  /** Members of the provider's own that it wants back with the call. */
  readonly extra?: JsonObject;
}

export interface CompletionText {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: FinishReason;
  /** The provider's own reason, if OpenAI has no word for it. */
  readonly nativeFinish?: string | null;
  /** The caller's stop text that the model met, if the provider tells it. */
  readonly stopText?: string | null;
  /** Members of the message that show what the model thought: `reasoning_content`, `reasoning_details`. */
  readonly reasoning?: JsonObject | null;
  readonly usage: Usage | null;
}

/** An OpenAI `chat.completion` of one choice. */
export function completion({ id, created, model }: AnswerHead, answer: CompletionText): JsonObject {
  const { text, toolCalls, finish, nativeFinish = null, stopText = null, reasoning, usage } = answer;
  const message: JsonObject = { role: 'assistant', content: text, refusal: null, ...reasoning };
  if (toolCalls.length > 0) {
    message['content'] = text === '' ? null : text;
    message['tool_calls'] = toolCalls.map(formatToolCall);
  }
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, ...finishMembers(finish, nativeFinish, stopText) }],
    ...(usage !== null && { usage: formatUsage(usage) }),
  };
}

export function formatToolCall({ id, name, arguments: text, extra }: ToolCall): JsonObject {
  return {
    id,
    type: 'function',
    function: { name, arguments: text },
    ...(extra && { extra_content: extra }),
  };
}

/** An OpenAI `chat.completion.chunk` with the new part of the one choice. */
export function deltaChunk(
  head: AnswerHead,
  delta: JsonObject,
  finish: FinishReason | null = null,
  nativeFinish: string | null = null,
  stopText: string | null = null,
): JsonObject {
  const members = finishMembers(finish, nativeFinish, stopText);
  return chunk(head, [{ index: 0, delta, logprobs: null, ...members }], null);
}

/** `stop_reason` is vLLM's member. */
function finishMembers(
  finish: FinishReason | null,
  native: string | null,
  stopText: string | null,
): JsonObject {
  return {
    finish_reason: finish,
    ...(native !== null && { native_finish_reason: native }),
    ...(stopText !== null && { stop_reason: stopText }),
  };
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
