import type { JsonObject, JsonValue } from '@tallystick/core';
import { ProviderError, unsupported } from '../providers/provider.ts';
import { embedCard } from './cards.ts';

const { dimensions, inputs, input_characters, all_characters } = embedCard.limits;

export interface EmbedRequest {
  /** With every run of blanks made one space. */
  readonly texts: readonly string[];
  readonly base64: boolean;
}

/** Reads an embeddings request. @throws ProviderError refused */
export function embedRequest(body: JsonObject): EmbedRequest {
  const format = body['encoding_format'] ?? 'float';
  if (format !== 'float' && format !== 'base64')
    throw refusedInput('encoding_format', 'encoding_format must be float or base64.');
  if ((body['dimensions'] ?? dimensions) !== dimensions)
    throw unsupported(
      'local',
      'dimensions',
      `This model returns ${dimensions} dimensions; it supports no other number.`,
    );
  return { texts: textsOf(body['input']), base64: format === 'base64' };
}

function textsOf(input: JsonValue | undefined): string[] {
  const list = typeof input === 'string' ? [input] : input;
  if (!Array.isArray(list) || !list.every((text) => typeof text === 'string'))
    throw refusedInput('input', 'This model embeds text, not tokens: input is a text or a list of texts.');
  if (list.length === 0 || list.length > inputs)
    throw refusedInput(
      'input',
      `input has ${list.length} texts; this model accepts 1 to ${inputs} per call.`,
    );
  let characters = 0;
  return list.map((text, index) => {
    const words = text.toWellFormed().replaceAll(/\s+/g, ' ').trim();
    if (words === '') throw refusedInput('input', `Text ${index} of input is empty.`);
    if (words.length > input_characters)
      throw refusedInput(
        'input',
        `Text ${index} of input has ${words.length} characters; this model accepts ${input_characters}.`,
      );
    characters += words.length;
    if (characters > all_characters)
      throw refusedInput('input', `input has more than ${all_characters} characters in all.`);
    return words;
  });
}

export function refusedInput(param: string, message: string): ProviderError {
  const error = { message, type: 'invalid_request_error', param, code: 'invalid_value' };
  return new ProviderError('refused', `local can't take ${param}`, { status: 400, error });
}
