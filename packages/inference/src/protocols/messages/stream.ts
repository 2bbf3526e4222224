import type { JsonObject, TallyError } from '@tallystick/core';
import { anthropicError } from '@tallystick/kit';
import { blockOfDetail } from '../../providers/anthropic-reasoning.ts';
import { badAnswer } from '../../providers/failures.ts';
import { asObject, asText, objectsOf } from '../../providers/members.ts';
import { argumentsText } from '../../providers/tool-arguments.ts';
import type { Usage } from '../../types.ts';
import { textOf } from '../answer-text.ts';
import { CallPieces } from '../call-pieces.ts';
import type { Given, SseEvent, StreamEncoder } from '../protocol.ts';
import {
  citationsOf,
  detailsOf,
  extraOf,
  formatMessageUsage,
  messageHead,
  stopOf,
  textBlock,
  toolIdOf,
  toolUseBlock,
} from './answer.ts';

/** A tool call of the answer. */
interface ToolCall {
  readonly id: string;
  /** The text of the call's arguments so far. */
  text: string;
  state: 'new' | 'open' | 'closed';
}

/** A piece of the answer, as a part of one block. */
interface Piece {
  /** The tool call that it belongs to; null for any other block. */
  readonly call: ToolCall | null;
  readonly say: () => SseEvent[];
}

/**
 * Writes the events of a message's stream. Blocks follow each other: one is open at a time, since Anthropic's clients
 * take the last block for the one that goes on. While the arguments of a tool call are no whole JSON, pieces of other
 * blocks wait for its end.
 */
export class MessageEncoder implements StreamEncoder {
  readonly #given: Given;
  #begun = false;
  /** What the open block holds; null if none is open. Pieces of the same continue it. */
  #open: string | ToolCall | null = null;
  #blocks = 0;
  #calls = 0;
  readonly #pieces = new CallPieces<ToolCall>();
  /** Pieces that wait for the end of the open tool call. */
  #held: Piece[] = [];
  #choice: JsonObject = {};
  #refusal = '';

  constructor(given: Given) {
    this.#given = given;
  }

  /** @throws ProviderError bad_answer for a piece of a tool call that was not begun, or that was whole before */
  take(chunk: JsonObject): readonly SseEvent[] {
    const events = this.#begin();
    const [choice] = objectsOf(chunk['choices']);
    if (choice === undefined) return events;
    const { delta: given, ...rest } = choice;
    for (const [name, value] of Object.entries(rest)) if (value !== null) this.#choice[name] = value;
    const delta = asObject(given) ?? {};
    const pieces: Piece[] = detailsOf(delta).map((detail) => ({
      call: null,
      say: () => this.#think(detail),
    }));
    const text = textOf(delta['content']);
    const citations = citationsOf(delta['annotations']) ?? [];
    if (text !== '' || citations.length > 0)
      pieces.push({ call: null, say: () => [...this.#say('text', text), ...this.#cite(citations)] });
    const refusal = asText(delta['refusal']) ?? '';
    this.#refusal += refusal;
    if (refusal !== '') pieces.push({ call: null, say: () => this.#say('refusal', refusal) });
    for (const piece of pieces) events.push(...this.#put(piece));
    for (const [position, call] of objectsOf(delta['tool_calls']).entries())
      events.push(...this.#put(this.#call(call, position)));
    return events;
  }

  end(usage: Usage): readonly SseEvent[] {
    return [
      ...this.#begin(),
      ...this.#sayHeld(true),
      ...this.#close(),
      named({
        type: 'message_delta',
        delta: {
          ...stopOf(this.#choice, { refusal: this.#refusal || null, calls: this.#calls > 0 }),
          container: null,
        },
        usage: formatMessageUsage(usage),
      }),
      named({ type: 'message_stop' }),
    ];
  }

  fail(error: TallyError): readonly SseEvent[] {
    return [...this.#sayHeld(true), named({ type: 'error', error: { ...anthropicError(error) } })];
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

  #put(piece: Piece): SseEvent[] {
    if (this.#open !== piece.call && (this.#held.length > 0 || this.#isWithinCall)) {
      this.#held.push(piece);
      return [];
    }
    return [...piece.say(), ...this.#sayHeld(false)];
  }

  /** Whether the rest of the open tool call is still to come. */
  get #isWithinCall(): boolean {
    return typeof this.#open === 'object' && this.#open !== null && !isWhole(this.#open.text);
  }

  /** Writes what waits, the pieces of each call together. @param isEnd whether no more comes */
  #sayHeld(isEnd: boolean): SseEvent[] {
    const events: SseEvent[] = [];
    const goesOn = (): boolean => this.#held.length > 0 && (isEnd || !this.#isWithinCall);
    while (goesOn()) {
      const [first, ...rest] = this.#held;
      const belongs = (piece: Piece): boolean => first?.call !== null && piece.call === first?.call;
      for (const piece of [...(first === undefined ? [] : [first]), ...rest.filter(belongs)])
        events.push(...piece.say());
      this.#held = rest.filter((piece) => !belongs(piece));
    }
    return events;
  }

  #think(detail: JsonObject): SseEvent[] {
    const block = blockOfDetail(detail);
    const { type, thinking, signature } = block;
    if (type === 'redacted_thinking') return this.#start(null, block);
    const key = `thinking ${JSON.stringify(detail['index'] ?? null)}`;
    // A piece without text is the signature of the thinking before it.
    const isOpen = typeof this.#open === 'string' && this.#open.startsWith('thinking ');
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

  #cite(citations: readonly JsonObject[]): SseEvent[] {
    if (this.#open !== 'text') return [];
    return citations.map((citation) => this.#delta({ type: 'citations_delta', citation }));
  }

  /** Some providers give a call no id. */
  #call(piece: JsonObject, position: number): Piece {
    const { name, arguments: given } = asObject(piece['function']) ?? {};
    const text = argumentsText(given);
    const call = this.#pieces.of(piece, position, (id) => {
      if (id === '' && !asText(name)) throw badAnswer(this.#given.model);
      this.#calls += 1;
      return { id: id || toolIdOf(this.#given, this.#calls - 1), text: '', state: 'new' };
    });
    if (call.state === 'closed' && text.trim() !== '') throw badAnswer(this.#given.model);
    const say = (): SseEvent[] => {
      const events: SseEvent[] = [];
      if (call.state === 'new') {
        for (const block of extraOf({ ...piece, id: call.id })) events.push(...this.#start(null, block));
        events.push(...this.#start(call, toolUseBlock(call.id, asText(name) ?? '', {})));
        call.state = 'open';
      }
      if (text === '' || call.state === 'closed') return events;
      call.text += text;
      return [...events, this.#delta({ type: 'input_json_delta', partial_json: text })];
    };
    return { call, say };
  }

  /** Opens a block. @param key what continues it; null if it is complete */
  #start(key: string | ToolCall | null, block: JsonObject): SseEvent[] {
    const events = this.#close();
    events.push(named({ type: 'content_block_start', index: this.#blocks, content_block: block }));
    this.#open = key ?? 'complete';
    return events;
  }

  #close(): SseEvent[] {
    if (this.#open === null) return [];
    if (typeof this.#open === 'object') this.#open.state = 'closed';
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

/** Whether a text is whole JSON. */
function isWhole(text: string): boolean {
  // Most pieces are no end, and parsing each text so far would take time by the square of its length.
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
