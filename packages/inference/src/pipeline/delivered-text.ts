import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import { asObject, objectsOf } from '../providers/members.ts';
import { TokenTally } from '../tokens.ts';

/** The size of a text in UTF-8 bytes, and in tokens, which are counted on demand. */
export interface Size {
  readonly bytes: number;
  tokens(): Promise<number>;
  hard(): Promise<number>;
}

/**
 * Counts the tokens of a model's answer, in one piece or in chunks. It holds a bounded part if `settle` is called
 * whenever `isFull`.
 */
export class Delivered {
  readonly #answer: TokenTally;
  readonly #reasoning: TokenTally;
  /** Number of choices whose text is complete. */
  ends = 0;
  toolCalls = 0;
  /** Whether the answer holds speech, an image or withheld text, none of which is counted here. */
  isUnseen = false;
  /** Whether there is reasoning that is not shown, or only summarised. */
  hidesReasoning = false;

  constructor(tokenizer: Model['tokenizer']) {
    this.#answer = new TokenTally(tokenizer);
    this.#reasoning = new TokenTally(tokenizer);
  }

  /** A `chat.completion` or `chat.completion.chunk`. */
  add(body: JsonObject): void {
    for (const choice of objectsOf(body['choices'])) {
      const finish = choice['finish_reason'];
      if (typeof finish === 'string') this.ends += 1;
      if (finish === 'content_filter') this.isUnseen = true;
      const message = asObject(choice['delta']) ?? asObject(choice['message']);
      if (message !== null) this.#addMessage(message);
    }
  }

  get isFull(): boolean {
    return this.#answer.isFull || this.#reasoning.isFull;
  }

  /** Counts the text that is held, and drops it. */
  async settle(): Promise<void> {
    await this.#answer.settle();
    await this.#reasoning.settle();
  }

  /** The tokens of the whole text. A word that came in pieces counts as one. */
  async tokens(): Promise<number> {
    return (await this.#answer.tokens()) + (await this.#reasoning.tokens());
  }

  /** @param apart whether reasoning is counted separately, so that its text is left out */
  size(apart: boolean): Size {
    const answer = this.#answer;
    const reasoning = this.#reasoning;
    if (apart || reasoning.bytes === 0) return answer;
    return {
      bytes: answer.bytes + reasoning.bytes,
      tokens: () => this.tokens(),
      hard: async () => (await answer.hard()) + (await reasoning.hard()),
    };
  }

  #addMessage(message: JsonObject): void {
    for (const name of ['content', 'refusal']) add(this.#answer, message[name]);
    for (const part of objectsOf(message['content'])) this.#addPart(part);
    this.#addReasoning(message);
    if (asObject(message['audio']) !== null || objectsOf(message['images']).length > 0) this.isUnseen = true;
    const legacy = asObject(message['function_call']);
    for (const called of [
      legacy,
      ...objectsOf(message['tool_calls']).map(
        (call) => asObject(call['function']) ?? asObject(call['custom']),
      ),
    ]) {
      if (typeof called?.['name'] === 'string') this.toolCalls += 1;
      for (const name of ['name', 'arguments', 'input']) add(this.#answer, called?.[name]);
    }
  }

  /** Some providers give content in parts; reasoning is one kind. */
  #addPart({ type, text, thinking }: JsonObject): void {
    if (type === 'thinking') {
      add(this.#reasoning, thinking);
      for (const part of objectsOf(thinking)) add(this.#reasoning, part['text']);
    } else if (typeof text === 'string') add(this.#answer, text);
    else this.isUnseen = true;
  }

  /** Adds reasoning as text; if there is none, from the parts that some providers give, which may be encrypted. */
  #addReasoning(message: JsonObject): void {
    const names = ['reasoning_content', 'reasoning'] as const;
    for (const name of names) add(this.#reasoning, message[name]);
    const isText = names.some((name) => typeof message[name] === 'string');
    for (const { type, text } of objectsOf(message['reasoning_details'])) {
      if (type !== 'reasoning.text') this.hidesReasoning = true;
      else if (!isText) add(this.#reasoning, text);
    }
  }
}

/** An answer in one piece. */
export function deliveredOf(body: JsonObject, tokenizer: Model['tokenizer']): Delivered {
  const delivered = new Delivered(tokenizer);
  delivered.add(body);
  return delivered;
}

function add(tally: TokenTally, value: JsonValue | undefined): void {
  if (typeof value === 'string' && value !== '') tally.add(value);
}
