import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, objectsOf } from '../providers/members.ts';

/** Collects what a model said, of an answer in one piece or in chunks, for counting where the provider does not. */
export class DeliveredText {
  readonly #texts: string[] = [];

  /** A `chat.completion` or `chat.completion.chunk`. */
  add(body: JsonObject): void {
    for (const choice of objectsOf(body['choices'])) {
      const said = asObject(choice['delta']) ?? asObject(choice['message']);
      if (said !== null) this.#addSaid(said);
    }
  }

  /** One text of all, so that a word that came in pieces is counted as one. */
  text(): string {
    return this.#texts.join('');
  }

  #addSaid(said: JsonObject): void {
    for (const name of ['content', 'refusal', 'reasoning_content', 'reasoning']) this.#addText(said[name]);
    for (const call of objectsOf(said['tool_calls'])) {
      const called = asObject(call['function']);
      this.#addText(called?.['name']);
      this.#addText(called?.['arguments']);
    }
  }

  #addText(value: JsonValue | undefined): void {
    if (typeof value === 'string' && value !== '') this.#texts.push(value);
  }
}
