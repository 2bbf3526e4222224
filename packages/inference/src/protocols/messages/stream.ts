import type { JsonObject, TallyError } from '@tallystick/core';
import { anthropicError } from '@tallystick/kit';
import { blockOfDetail } from '../../providers/anthropic-reasoning.ts';
import { badAnswer } from '../../providers/failures.ts';
import { asObject, asText, objectsOf } from '../../providers/members.ts';
import type { Usage } from '../../types.ts';
import type { Given, SseEvent, StreamEncoder } from '../protocol.ts';
import {
  citationsOf,
  detailsOf,
  extraOf,
  formatMessageUsage,
  messageHead,
  stopOf,
  textBlock,
  textOf,
  toolIdOf,
  toolUseBlock,
} from './answer.ts';

/** Writes the events of a message's stream. Blocks follow each other: one is open at a time. */
export class MessageEncoder implements StreamEncoder {
  readonly #given: Given;
  #begun = false;
  /** What the open block holds; null if none is open. Pieces of the same continue it. */
  #open: string | null = null;
  #blocks = 0;
  /** Id of the tool call that was begun last. */
  #toolId = '';
  #calls = 0;
  #choice: JsonObject = {};
  #refusal = '';

  constructor(given: Given) {
    this.#given = given;
  }

  /** @throws ProviderError bad_answer for a piece of a tool call that is not the last one */
  take(chunk: JsonObject): readonly SseEvent[] {
    const events = this.#begin();
    const [choice] = objectsOf(chunk['choices']);
    if (choice === undefined) return events;
    const { delta: given, ...rest } = choice;
    for (const [name, value] of Object.entries(rest)) if (value !== null) this.#choice[name] = value;
    const delta = asObject(given) ?? {};
    for (const detail of detailsOf(delta)) events.push(...this.#think(detail));
    events.push(...this.#say('text', textOf(delta['content'])));
    for (const citation of citationsOf(delta['annotations']) ?? [])
      if (this.#open === 'text') events.push(this.#delta({ type: 'citations_delta', citation }));
    const refusal = asText(delta['refusal']) ?? '';
    this.#refusal += refusal;
    events.push(...this.#say('refusal', refusal));
    for (const call of objectsOf(delta['tool_calls'])) events.push(...this.#call(call));
    return events;
  }

  end(usage: Usage): readonly SseEvent[] {
    return [
      ...this.#begin(),
      ...this.#close(),
      named({
        type: 'message_delta',
        delta: {
          ...stopOf(this.#choice, { refusal: this.#refusal || null, calls: this.#toolId !== '' }),
          container: null,
        },
        usage: formatMessageUsage(usage),
      }),
      named({ type: 'message_stop' }),
    ];
  }

  fail(error: TallyError): readonly SseEvent[] {
    return [named({ type: 'error', error: { ...anthropicError(error) } })];
  }

  /** The counts of the prompt are known at the end, where `message_delta` gives them. */
  #begin(): SseEvent[] {
    if (this.#begun) return [];
    this.#begun = true;
    const message = {
      ...messageHead(this.#given),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: formatMessageUsage(null),
    };
    return [named({ type: 'message_start', message })];
  }

  #think(detail: JsonObject): SseEvent[] {
    const block = blockOfDetail(detail);
    const { type, thinking, signature } = block;
    if (type === 'redacted_thinking') return this.#start(null, block);
    const key = `thinking ${JSON.stringify(detail['index'] ?? null)}`;
    // A piece without text is the signature of the thinking before it.
    const isOpen = this.#open?.startsWith('thinking ') === true;
    const continues = isOpen && (this.#open === key || detail['text'] === undefined);
    return [
      ...(continues ? [] : this.#start(key, { type: 'thinking', thinking: '', signature: '' })),
      ...(thinking === '' ? [] : [this.#delta({ type: 'thinking_delta', thinking: thinking ?? '' })]),
      ...(signature === '' ? [] : [this.#delta({ type: 'signature_delta', signature: signature ?? '' })]),
    ];
  }

  #say(key: 'text' | 'refusal', text: string): SseEvent[] {
    if (text === '') return [];
    return [
      ...(this.#open === key ? [] : this.#start(key, textBlock(''))),
      this.#delta({ type: 'text_delta', text }),
    ];
  }

  /** Some providers give every call the same index, so that only its id tells calls apart; others give it no id. */
  #call(call: JsonObject): SseEvent[] {
    const { name, arguments: text } = asObject(call['function']) ?? {};
    const given = asText(call['id']) ?? '';
    const key = `tool ${JSON.stringify(call['index'] ?? 0)}`;
    const begins = this.#open !== key || (given !== '' && given !== this.#toolId);
    if (begins && given === '' && !asText(name)) throw badAnswer(this.#given.model);
    const id = given || toolIdOf(this.#given, this.#calls);
    if (begins) {
      this.#toolId = id;
      this.#calls += 1;
    }
    return [
      ...(begins ? extraOf({ ...call, id }).flatMap((block) => this.#start(null, block)) : []),
      ...(begins ? this.#start(key, toolUseBlock(id, asText(name) ?? '', {})) : []),
      ...(asText(text) ? [this.#delta({ type: 'input_json_delta', partial_json: text ?? '' })] : []),
    ];
  }

  /** Opens a block. @param key what continues it; null if it is complete */
  #start(key: string | null, block: JsonObject): SseEvent[] {
    const events = this.#close();
    events.push(named({ type: 'content_block_start', index: this.#blocks, content_block: block }));
    this.#open = key ?? 'complete';
    return events;
  }

  #close(): SseEvent[] {
    if (this.#open === null) return [];
    this.#open = null;
    this.#blocks += 1;
    return [named({ type: 'content_block_stop', index: this.#blocks - 1 })];
  }

  #delta(delta: JsonObject): SseEvent {
    return named({ type: 'content_block_delta', index: this.#blocks, delta });
  }
}

function named(data: JsonObject & { readonly type: string }): SseEvent {
  return { event: data.type, data };
}
