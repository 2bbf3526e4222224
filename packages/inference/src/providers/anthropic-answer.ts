import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Usage } from '../types.ts';
import { type AnswerHead, completion, type FinishReason } from './completion.ts';
import { asObject, asText, objectsOf } from './members.ts';
import { tokenCount } from './usage.ts';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

export function finishReason(stopReason: JsonValue | undefined): FinishReason {
  return finishReasons[asText(stopReason) ?? ''] ?? 'stop';
}

/** A message of the Messages API as an OpenAI `chat.completion`. Thinking is left out. */
export function completionOf(
  message: JsonObject,
  created: number,
): { body: JsonObject; usage: Usage | null } {
  const blocks = objectsOf(message['content']);
  const counted = messagesUsage(asObject(message['usage']));
  const usage = counted && blocks.some(isUnseen) ? { ...counted, hidden: 'unknown' as const } : counted;
  const body = completion(headOf(message, created), {
    text: blocks.map((block) => (block['type'] === 'text' ? (asText(block['text']) ?? '') : '')).join(''),
    toolCalls: blocks
      .filter((block) => block['type'] === 'tool_use')
      .map(({ id, name, input }) => ({
        id: asText(id) ?? '',
        name: asText(name) ?? '',
        arguments: JSON.stringify(input ?? {}),
      })),
    finish: finishReason(message['stop_reason']),
    usage,
  });
  return { body, usage };
}

/** Whether a block is thinking, or a tool's action at the provider: its tokens are counted, but not separately. */
export function isUnseen({ type }: JsonObject): boolean {
  return type !== 'text' && type !== 'tool_use';
}

export function headOf(message: JsonObject, created: number): AnswerHead {
  return { id: asText(message['id']) ?? '', created, model: asText(message['model']) ?? '' };
}

/** In this API, tokens read from and written to the cache are not part of the input tokens. */
export function messagesUsage(usage: JsonObject | null): Usage | null {
  const input = tokenCount(usage?.['input_tokens']);
  const completionTokens = tokenCount(usage?.['output_tokens']);
  const cachedTokens = tokenCount(usage?.['cache_read_input_tokens'] ?? 0);
  const cacheWriteTokens = tokenCount(usage?.['cache_creation_input_tokens'] ?? 0);
  if (input === null || completionTokens === null || cachedTokens === null || cacheWriteTokens === null)
    return null;
  return {
    promptTokens: input + cachedTokens + cacheWriteTokens,
    completionTokens,
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    estimated: false,
  };
}
