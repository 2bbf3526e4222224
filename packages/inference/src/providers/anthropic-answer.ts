import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Usage } from '../types.ts';
import { detailOfBlock } from './anthropic-reasoning.ts';
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

/** The reasons that the inner form has words for; of the others it gives the native one too. */
const translated: ReadonlySet<string> = new Set([...Object.keys(finishReasons), 'end_turn', 'stop_sequence']);

/** The native reason of an end that OpenAI has no word for. */
export function nativeFinish(stopReason: JsonValue | undefined): string | null {
  const reason = asText(stopReason);
  return reason === null || (translated.has(reason) && reason !== 'model_context_window_exceeded')
    ? null
    : reason;
}

/** A message of the Messages API as an OpenAI `chat.completion`, with its thinking in `reasoning_details`. */
export function completionOf(
  message: JsonObject,
  created: number,
): { body: JsonObject; usage: Usage | null } {
  const blocks = objectsOf(message['content']);
  const counted = messagesUsage(asObject(message['usage']));
  const isTold = counted?.hidden !== undefined && !blocks.some(isHosted);
  const usage =
    counted && blocks.some(isUnseen) && !isTold ? { ...counted, hidden: 'unknown' as const } : counted;
  const details = blocks.filter(isThinking).map(detailOfBlock);
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
    nativeFinish: nativeFinish(message['stop_reason']),
    stopText: asText(message['stop_sequence']),
    reasoning: details.length > 0 ? { reasoning_details: details } : null,
    usage,
  });
  return { body, usage };
}

function isThinking({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** Whether a block is a tool's action at the provider. */
export function isHosted(block: JsonObject): boolean {
  return isUnseen(block) && !isThinking(block);
}

/** Whether a block is not text of the answer, so that its tokens are counted with what is not shown. */
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
  const longWriteTokens = tokenCount(asObject(usage?.['cache_creation'])?.['ephemeral_1h_input_tokens'] ?? 0);
  const thought = tokenCount(asObject(usage?.['output_tokens_details'])?.['thinking_tokens'] ?? 0);
  if (input === null || completionTokens === null || cachedTokens === null || cacheWriteTokens === null)
    return null;
  return {
    promptTokens: input + cachedTokens + cacheWriteTokens,
    completionTokens,
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(longWriteTokens !== null &&
      longWriteTokens > 0 &&
      longWriteTokens <= cacheWriteTokens && { longWriteTokens }),
    ...(thought !== null && thought > 0 && thought <= completionTokens && { hidden: thought }),
    estimated: false,
  };
}
