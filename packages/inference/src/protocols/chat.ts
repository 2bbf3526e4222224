import type { JsonObject, TallyError } from '@tallystick/core';
import { openAiError } from '@tallystick/kit';
import { isUsageChunk } from '../providers/usage.ts';
import type { Protocol, SseEvent, StreamEncoder } from './protocol.ts';

/** OpenAI's chat completions: the inner form itself, so that answers pass as they are and chunks keep their bytes. */
export const chat: Protocol = {
  name: 'chat',
  innerOf: (body) => body,
  answerOf: null,
  stream: () => new ChatEncoder(),
  native: null,
};

class ChatEncoder implements StreamEncoder {
  #first: JsonObject = {};
  #begun = false;
  /** The chunk of the usage, which waits in case it is the last one. */
  #usage: readonly SseEvent[] = [];

  take(data: JsonObject, text: string): readonly SseEvent[] {
    if (!this.#begun) this.#first = data;
    this.#begun = true;
    const events = [...this.#usage, { event: null, data, text }];
    this.#usage = isUsageChunk(data) ? events.splice(-1) : [];
    return events;
  }

  end(): readonly SseEvent[] {
    return this.#usage;
  }

  fail(error: TallyError): readonly SseEvent[] {
    const usage = this.#usage;
    this.#usage = [];
    return [...usage, openAiErrorEvent(error)];
  }

  svcChunk(): JsonObject {
    const { id = '', created = 0, model = '' } = this.#first;
    return { id, object: 'chat.completion.chunk', created, model, choices: [] };
  }
}

/** The event by which OpenAI's chat and legacy completions say in a stream that it broke off. */
export function openAiErrorEvent(error: TallyError): SseEvent {
  return { event: null, data: { error: { ...openAiError(error) } } };
}
