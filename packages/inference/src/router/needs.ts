import { isObject, type JsonValue } from '@tallystick/core';
import { ABILITIES, type Ability } from '../catalogue/catalogue.ts';
import type { ChatBody } from '../types.ts';

/** The abilities that a model needs for the request. */
export function needsOf(body: ChatBody): Ability[] {
  const format = body['response_format'];
  const needed: Readonly<Record<Ability, boolean>> = {
    tools: hasItems(body['tools']) || hasItems(body['functions']),
    vision: Array.isArray(body['messages']) && body['messages'].some(hasImage),
    json: isObject(format) && format['type'] !== 'text',
    logprobs: body['logprobs'] === true,
    stream: body['stream'] === true,
  };
  return ABILITIES.filter((ability) => needed[ability]);
}

function hasItems(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

function hasImage(message: JsonValue): boolean {
  const content = isObject(message) ? message['content'] : undefined;
  return Array.isArray(content) && content.some((part) => isObject(part) && part['type'] === 'image_url');
}
