import type { JsonObject } from '@tallystick/core';
import { finishReason, headOf, isHosted, isUnseen, messagesUsage, nativeFinish } from './anthropic-answer.ts';
import { detailOfBlock } from './anthropic-reasoning.ts';
import { type AnswerHead, deltaChunk, formatToolCall, usageChunk } from './completion.ts';
import { badAnswer } from './failures.ts';
import { asObject, asText } from './members.ts';

interface OpenTool {
  /** Index among the tool calls of the answer. */
  readonly index: number;
  /** JSON text of the arguments that the block began with. */
  readonly first: string;
  /** Whether any other of its arguments has arrived. */
  begun: boolean;
}

/** Converts the events of the Messages API's stream, one after another, to OpenAI `chat.completion.chunk`s. */
export class MessageStream {
  readonly #provider: string;
  readonly #created: number;
  #head: AnswerHead | null = null;
  #begun = false;
  #usage: JsonObject = {};
  /** Open tool calls by the index of their content block. */
  readonly #tools = new Map<unknown, OpenTool>();
  /** Whether the model produced something that is not text of the answer. */
  unseen = false;
  /** Whether a tool acted at the provider. */
  #hosted = false;
  /** Whether the end of the message has arrived. */
  ended = false;

  /** @param created seconds since 1970 */
  constructor(provider: string, created: number) {
    this.#provider = provider;
    this.#created = created;
  }

  /**
   * Converts an event. The first chunk comes with the first event that has any of the answer: a message that was only
   * opened may yet fail, and then the call can go to another provider.
   * @throws ProviderError bad_answer for an event that is out of place
   */
  take(event: JsonObject): JsonObject[] {
    const chunks = this.#chunksOf(event);
    if (this.#begun || this.#head === null || (chunks.length === 0 && !this.unseen)) return chunks;
    this.#begun = true;
    return [deltaChunk(this.#head, { role: 'assistant', content: '' }), ...chunks];
  }

  #chunksOf(event: JsonObject): JsonObject[] {
    if (event['type'] === 'message_start') return this.#start(asObject(event['message']) ?? {});
    // New types of events may come at any time and must be skipped; pings mean nothing.
    if (!/^(content_block|message)_/.test(asText(event['type']) ?? '')) return [];
    if (this.#head === null || this.ended) throw badAnswer(this.#provider);
    switch (event['type']) {
      case 'content_block_start':
        return this.#startBlock(this.#head, event['index'], asObject(event['content_block']) ?? {});
      case 'content_block_delta':
        return this.#continueBlock(this.#head, event['index'], asObject(event['delta']) ?? {});
      case 'content_block_stop':
        return this.#stopBlock(this.#head, event['index']);
      case 'message_delta':
        return this.#finish(this.#head, event);
      case 'message_stop':
        return this.#stop(this.#head);
      default:
        return [];
    }
  }

  #start(message: JsonObject): JsonObject[] {
    if (this.#head !== null) throw badAnswer(this.#provider);
    this.#head = headOf(message, this.#created);
    this.#usage = { ...asObject(message['usage']) };
    return [];
  }

  #startBlock(head: AnswerHead, index: unknown, block: JsonObject): JsonObject[] {
    const { type, id, name, input, text, thinking } = block;
    this.unseen ||= isUnseen(block);
    this.#hosted ||= isHosted(block);
    if (type === 'text' && asText(text)) return [deltaChunk(head, { content: text ?? '' })];
    if (type === 'redacted_thinking' || (type === 'thinking' && asText(thinking)))
      return [reasoningChunk(head, index, detailOfBlock(block))];
    if (type !== 'tool_use') return [];
    const tool = this.#tools.size;
    this.#tools.set(index, { index: tool, first: JSON.stringify(asObject(input) ?? {}), begun: false });
    const call = formatToolCall({ id: asText(id) ?? '', name: asText(name) ?? '', arguments: '' });
    return [deltaChunk(head, { tool_calls: [{ index: tool, ...call }] })];
  }

  #continueBlock(head: AnswerHead, block: unknown, delta: JsonObject): JsonObject[] {
    const { type, text: said, thinking, signature } = delta;
    if (type === 'text_delta') return asText(said) ? [deltaChunk(head, { content: said ?? '' })] : [];
    if (type === 'thinking_delta')
      return [reasoningChunk(head, block, { ...REASONING, text: thinking ?? '' })];
    if (type === 'signature_delta')
      return [reasoningChunk(head, block, { ...REASONING, signature: signature ?? '' })];
    if (type !== 'input_json_delta') return [];
    const tool = this.#tools.get(block);
    const text = asText(delta['partial_json']) ?? '';
    if (tool === undefined || text === '') return [];
    tool.begun = true;
    return [argumentsChunk(head, tool.index, text)];
  }

  /**
   * A tool call without arguments has no text in this API, but OpenAI's clients parse the arguments. Some servers of this API give
   * them all at the beginning of the block.
   */
  #stopBlock(head: AnswerHead, block: unknown): JsonObject[] {
    const tool = this.#tools.get(block);
    if (tool === undefined || tool.begun) return [];
    tool.begun = true;
    return [argumentsChunk(head, tool.index, tool.first)];
  }

  #finish(head: AnswerHead, event: JsonObject): JsonObject[] {
    // Its counts are those of the whole message so far, and may leave out unchanged ones.
    for (const [name, value] of Object.entries(asObject(event['usage']) ?? {}))
      if (value !== null) this.#usage[name] = value;
    const { stop_reason: reason, stop_sequence: stop } = asObject(event['delta']) ?? {};
    if (typeof reason !== 'string') return [];
    return [deltaChunk(head, {}, finishReason(reason), nativeFinish(reason), asText(stop))];
  }

  #stop(head: AnswerHead): JsonObject[] {
    this.ended = true;
    const counted = messagesUsage(this.#usage);
    if (counted === null) return [];
    const { hidden, ...rest } = counted;
    return [usageChunk(head, this.#hosted || hidden === undefined ? rest : { ...rest, hidden })];
  }
}

const REASONING = { type: 'reasoning.text' } as const;

/** A piece of reasoning. Pieces of one block have the same index. */
function reasoningChunk(head: AnswerHead, index: unknown, detail: JsonObject): JsonObject {
  const placed = typeof index === 'number' ? { ...detail, index } : detail;
  return deltaChunk(head, { reasoning_details: [placed] });
}

function argumentsChunk(head: AnswerHead, index: number, text: string): JsonObject {
  return deltaChunk(head, { tool_calls: [{ index, function: { arguments: text } }] });
}
