import type { JsonObject, JsonValue, TallyError } from '@tallystick/core';
import { asObject, asText, objectsOf } from '../../providers/members.ts';
import { formatUsage } from '../../providers/usage.ts';
import type { Usage } from '../../types.ts';
import { textOf } from '../answer-text.ts';
import { openAiErrorEvent } from '../chat.ts';
import type { Given, SseEvent, StreamEncoder } from '../protocol.ts';

/** A `text_completion` from a `chat.completion`. Reasoning has no place in it. */
export function answerOf(inner: JsonObject, given: Given): JsonObject {
  const choices = objectsOf(inner['choices']).map((choice) =>
    choiceOf(choice, textIn(asObject(choice['message']) ?? {}), 0),
  );
  return { ...headOf(given), choices, ...(inner['usage'] !== undefined && { usage: inner['usage'] }) };
}

/** The chunks of a streamed `text_completion`. */
export class CompletionEncoder implements StreamEncoder {
  readonly #given: Given;
  /** Length of the text so far of each choice, in UTF-16 units. */
  readonly #lengths = new Map<JsonValue | undefined, number>();

  constructor(given: Given) {
    this.#given = given;
  }

  take(chunk: JsonObject): readonly SseEvent[] {
    const choices = objectsOf(chunk['choices']).flatMap((choice) => this.#choice(choice));
    return choices.length === 0 ? [] : [this.#event(choices)];
  }

  end(usage: Usage): readonly SseEvent[] {
    const isWanted = asObject(this.#given.request['stream_options'])?.['include_usage'] === true;
    return isWanted ? [this.#event([], { usage: formatUsage(usage) })] : [];
  }

  fail(error: TallyError): readonly SseEvent[] {
    return [openAiErrorEvent(error)];
  }

  svcChunk(): JsonObject {
    return { ...headOf(this.#given), choices: [] };
  }

  /** None for a piece without text, such as the first, which only names the role. */
  #choice(choice: JsonObject): JsonObject[] {
    const text = textIn(asObject(choice['delta']) ?? {});
    if (text === '' && (choice['finish_reason'] ?? null) === null) return [];
    const before = this.#lengths.get(choice['index']) ?? 0;
    this.#lengths.set(choice['index'], before + text.length);
    return [choiceOf(choice, text, before)];
  }

  #event(choices: JsonObject[], more: JsonObject = {}): SseEvent {
    return { event: null, data: { ...headOf(this.#given), choices, ...more } };
  }
}

function headOf({ id, created, model }: Given): JsonObject {
  return { id: `cmpl-${id}`, object: 'text_completion', created, model };
}

function textIn(message: JsonObject): string {
  return textOf(message['content']) || asText(message['refusal']) || '';
}

/** @param from where the text begins in the whole text of its choice */
function choiceOf(choice: JsonObject, text: string, from: number): JsonObject {
  const { index = 0, finish_reason: finish = null } = choice;
  return { text, index, logprobs: logprobsOf(choice['logprobs'], from), finish_reason: finish };
}

/** Log probabilities as legacy completions list them, from chat's. */
function logprobsOf(given: JsonValue | undefined, from: number): JsonObject | null {
  const places = objectsOf(asObject(given)?.['content']);
  if (places.length === 0) return null;
  let offset = from;
  const offsets = places.map(({ token }) => {
    const at = offset;
    offset += (asText(token) ?? '').length;
    return at;
  });
  return {
    tokens: places.map(({ token }) => token ?? ''),
    token_logprobs: places.map(({ logprob }) => logprob ?? null),
    top_logprobs: places.map((place) =>
      Object.fromEntries(
        objectsOf(place['top_logprobs']).map(({ token, logprob }) => [asText(token) ?? '', logprob ?? null]),
      ),
    ),
    text_offset: offsets,
  };
}
