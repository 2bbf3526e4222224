import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Usage } from '../types.ts';
import {
  type AnswerHead,
  completion,
  deltaChunk,
  type FinishReason,
  formatToolCall,
  usageChunk,
} from './completion.ts';
import { asObject, asText, objectsOf } from './members.ts';
import { tokenCount } from './usage.ts';

/** All other reasons are blocks of some kind, of which the native one is told too. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
};

function finishOf(reason: JsonValue | undefined): { finish: FinishReason; nativeFinish: string | null } {
  const native = asText(reason) ?? '';
  const known = finishReasons[native];
  return known === undefined
    ? { finish: 'content_filter', nativeFinish: native }
    : { finish: known, nativeFinish: null };
}

/** Answers of this API have neither an id nor the name of their model. */
const newHead = (model: string, created: number): AnswerHead => ({
  id: `chatcmpl-${randomUUID()}`,
  created,
  model,
});

/** An answer of Converse as an OpenAI `chat.completion`. */
export function completionOf(
  answer: JsonObject,
  model: string,
  created: number,
): { body: JsonObject; usage: Usage | null } {
  const blocks = objectsOf(asObject(asObject(answer['output'])?.['message'])?.['content']);
  const thoughts = ofKind(blocks, 'reasoningContent');
  const counted = converseUsage(answer);
  const usage = counted && thoughts.length > 0 ? { ...counted, hidden: 'unknown' as const } : counted;
  const body = completion(newHead(model, created), {
    text: blocks.map((block) => asText(block['text']) ?? '').join(''),
    toolCalls: ofKind(blocks, 'toolUse').map(({ toolUseId, name, input }) => ({
      id: asText(toolUseId) ?? '',
      name: asText(name) ?? '',
      arguments: JSON.stringify(input ?? {}),
    })),
    ...finishOf(answer['stopReason']),
    reasoning: thoughts.length > 0 ? { reasoning_details: thoughts.map(detailOf) } : null,
    usage,
  });
  return { body, usage };
}

/** The contents of the blocks of a kind. */
function ofKind(blocks: readonly JsonObject[], kind: 'reasoningContent' | 'toolUse'): JsonObject[] {
  return objectsOf(blocks.map((block) => block[kind] ?? null));
}

/** A whole `reasoningContent`, or a piece of one in a stream. */
function detailOf({ reasoningText, redactedContent, ...piece }: JsonObject): JsonObject {
  if (redactedContent !== undefined) return { type: 'reasoning.encrypted', data: redactedContent };
  return { type: 'reasoning.text', ...(asObject(reasoningText) ?? piece) };
}

interface OpenTool {
  /** Index among the tool calls of the answer. */
  readonly index: number;
  /** Whether any of its arguments has arrived. */
  begun: boolean;
}

/** Converts the events of ConverseStream, one after another, to OpenAI `chat.completion.chunk`s. */
export class ConverseStream {
  readonly #head: AnswerHead;
  #begun = false;
  /** Open tool calls by the index of their content block. */
  readonly #tools = new Map<unknown, OpenTool>();
  /** Whether the model produced something that is not text of the answer. */
  unseen = false;
  /** Whether the end of the message has arrived; its usage may follow. */
  finished = false;

  /** @param created seconds since 1970 */
  constructor(model: string, created: number) {
    this.#head = newHead(model, created);
  }

  /**
   * Converts an event. The first chunk comes with the first event that has any of the answer, since a message that was only
   * opened may yet fail.
   * @param type of the event; new ones may come at any time
   */
  take(type: string, event: JsonObject): JsonObject[] {
    const chunks = this.#chunksOf(type, event);
    if (this.#begun || chunks.length === 0) return chunks;
    this.#begun = true;
    return [deltaChunk(this.#head, { role: 'assistant', content: '' }), ...chunks];
  }

  #chunksOf(type: string, event: JsonObject): JsonObject[] {
    const block = event['contentBlockIndex'];
    switch (type) {
      case 'contentBlockStart':
        return this.#startTool(block, asObject(asObject(event['start'])?.['toolUse']));
      case 'contentBlockDelta':
        return this.#continue(block, asObject(event['delta']) ?? {});
      case 'contentBlockStop':
        return this.#stopTool(block);
      case 'messageStop': {
        this.finished = true;
        const { finish, nativeFinish } = finishOf(event['stopReason']);
        return [deltaChunk(this.#head, {}, finish, nativeFinish)];
      }
      case 'metadata': {
        const usage = converseUsage(event);
        return usage === null ? [] : [usageChunk(this.#head, usage)];
      }
      default:
        return [];
    }
  }

  #startTool(block: unknown, tool: JsonObject | null): JsonObject[] {
    if (tool === null) return [];
    const index = this.#tools.size;
    this.#tools.set(block, { index, begun: false });
    const { toolUseId, name } = tool;
    const call = formatToolCall({ id: asText(toolUseId) ?? '', name: asText(name) ?? '', arguments: '' });
    return [deltaChunk(this.#head, { tool_calls: [{ index, ...call }] })];
  }

  #continue(block: unknown, { text, toolUse, reasoningContent }: JsonObject): JsonObject[] {
    if (typeof text === 'string') return text === '' ? [] : [deltaChunk(this.#head, { content: text })];
    const thought = asObject(reasoningContent);
    if (thought !== null) {
      this.unseen = true;
      const detail = { ...detailOf(thought), ...(typeof block === 'number' && { index: block }) };
      return [deltaChunk(this.#head, { reasoning_details: [detail] })];
    }
    const input = asText(asObject(toolUse)?.['input']) ?? '';
    const tool = this.#tools.get(block);
    if (tool === undefined || input === '') return [];
    tool.begun = true;
    return [this.#arguments(tool, input)];
  }

  /** A tool call without arguments may have no text in this API, but OpenAI's clients parse the arguments. */
  #stopTool(block: unknown): JsonObject[] {
    const tool = this.#tools.get(block);
    return tool === undefined || tool.begun ? [] : [this.#arguments(tool, '{}')];
  }

  #arguments({ index }: OpenTool, text: string): JsonObject {
    return deltaChunk(this.#head, { tool_calls: [{ index, function: { arguments: text } }] });
  }
}

/** In this API, tokens read from and written to the cache are not part of the input tokens. */
function converseUsage(answer: JsonObject): Usage | null {
  const usage = asObject(answer['usage']);
  const input = tokenCount(usage?.['inputTokens']);
  const completionTokens = tokenCount(usage?.['outputTokens']);
  const cachedTokens = tokenCount(usage?.['cacheReadInputTokens'] ?? 0);
  const cacheWriteTokens = tokenCount(usage?.['cacheWriteInputTokens'] ?? 0);
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
