import type { JsonObject, JsonValue } from '@tallystick/core';
import { CallPieces } from '../protocols/call-pieces.ts';
import { asObject, asText, objectsOf } from '../providers/members.ts';
import { MAX_PART } from './kept-contents.ts';

interface ToolCall {
  id: JsonValue;
  type: JsonValue;
  function: { name: string; arguments: string };
}

interface Choice {
  texts: Record<string, string>;
  readonly toolCalls: ToolCall[];
  readonly pieces: CallPieces<ToolCall>;
  finish: string | null;
}

/** Members of a delta whose text is put together. */
const TEXTS = ['content', 'refusal', 'reasoning', 'reasoning_content'] as const;

/** Puts the chunks of a stream together as one chat completion, as long as that is not too long to be kept. */
export class KeptAnswer {
  readonly #choices = new Map<number, Choice>();
  #length = 0;

  /** A `chat.completion.chunk` that was passed on. */
  add(chunk: JsonObject): void {
    if (this.#length > MAX_PART) return;
    for (const { index, delta, finish_reason: finish } of objectsOf(chunk['choices'])) {
      const choice = this.#choice(numberOf(index));
      if (typeof finish === 'string') choice.finish = finish;
      this.#addDelta(choice, asObject(delta) ?? {});
    }
    if (this.#length > MAX_PART) this.#choices.clear();
  }

  /** Null if the answer is too long. */
  completion(model: string): JsonObject | null {
    if (this.#length > MAX_PART) return null;
    const choices = [...this.#choices].map(([index, { texts, toolCalls, finish }]) => ({
      index,
      message: {
        role: 'assistant',
        content: null,
        ...texts,
        ...(toolCalls.length > 0 && { tool_calls: toolCalls as unknown as JsonValue }),
      },
      finish_reason: finish,
    }));
    return { object: 'chat.completion', model, choices };
  }

  #choice(index: number): Choice {
    const found = this.#choices.get(index) ?? {
      texts: {},
      toolCalls: [],
      pieces: new CallPieces<ToolCall>(),
      finish: null,
    };
    this.#choices.set(index, found);
    return found;
  }

  #addDelta(choice: Choice, delta: JsonObject): void {
    for (const name of TEXTS) {
      const text = asText(delta[name]);
      if (text !== null) choice.texts[name] = (choice.texts[name] ?? '') + this.#counted(text);
    }
    for (const [position, piece] of objectsOf(delta['tool_calls']).entries()) {
      const { id, type, function: part } = piece;
      const call = choice.pieces.of(piece, position, () => {
        const begun = { id: null, type: 'function', function: { name: '', arguments: '' } };
        choice.toolCalls.push(begun);
        return begun;
      });
      call.id = id || call.id;
      call.type = type ?? call.type;
      const called = asObject(part);
      call.function.name += this.#counted(asText(called?.['name']) ?? '');
      call.function.arguments += this.#counted(asText(called?.['arguments']) ?? '');
    }
  }

  #counted(text: string): string {
    this.#length += text.length;
    return text;
  }
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}
