import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import { objectsOf } from '../providers/members.ts';

/** An escape of half a surrogate pair, or a noncharacter, in JSON text. Both halves of a pair may stand there too. */
const UNSAFE = /\\u(?:[dD][89a-fA-F]|[fF][dD][dDeE]|[fF]{3}[eEfF])|\p{Noncharacter_Code_Point}/u;
const NONCHARACTERS = /\p{Noncharacter_Code_Point}/gu;
const ENDS_WITH_HALF = /[\ud800-\udbff]$/;

/**
 * Joins surrogate pairs that a provider splits between two chunks, since an event that is written here must be I-JSON:
 * half a pair waits for the next piece of its text. A half that stays alone becomes U+FFFD, or is left out at the end. A
 * noncharacter becomes U+FFFD too.
 */
export class WholeTexts {
  /** Halves that wait, by the place of their text. */
  readonly #held = new Map<string, string>();

  /** A `chat.completion.chunk` with whole characters. @param text its JSON text */
  take(chunk: JsonObject, text: string): JsonObject {
    if (this.#held.size === 0 && !UNSAFE.test(text)) return chunk;
    const choices = objectsOf(chunk['choices']).map(({ delta = null, ...choice }) => ({
      ...choice,
      delta: this.#whole(delta, JSON.stringify(choice['index'] ?? 0)),
    }));
    return { ...chunk, choices };
  }

  #whole(value: JsonValue, place: string): JsonValue {
    if (typeof value === 'string') return this.#joined(value, place);
    if (Array.isArray(value))
      return value.map((one, position) =>
        this.#whole(one, `${place}.${JSON.stringify(isObject(one) ? (one['index'] ?? position) : position)}`),
      );
    if (!isObject(value)) return value;
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([name, one]) => [name, this.#whole(one, `${place}.${name}`)]));
  }

  #joined(piece: string, place: string): string {
    if (piece === '') return piece;
    const text = (this.#held.get(place) ?? '') + piece;
    this.#held.delete(place);
    if (!ENDS_WITH_HALF.test(text)) return readable(text);
    this.#held.set(place, text.slice(-1));
    return readable(text.slice(0, -1));
  }
}

function readable(text: string): string {
  return text.toWellFormed().replace(NONCHARACTERS, '\ufffd');
}
