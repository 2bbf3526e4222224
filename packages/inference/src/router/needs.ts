import { isObject, type JsonObject, type JsonValue } from '@tallystick/core';
import { NEEDS, type Need } from '../catalogue/catalogue.ts';
import type { SpokenProtocol } from '../protocols/protocol.ts';
import { objectsOf } from '../providers/members.ts';
import type { ChatBody } from '../types.ts';

/** What a model and its provider need for the request. @param only a protocol that the provider must speak itself */
export function needsOf(body: ChatBody, only: SpokenProtocol | null = null): Need[] {
  const format = body['response_format'];
  const choice = body['tool_choice'];
  const messages = objectsOf(body['messages']);
  const holds = (type: string): boolean => messages.some((message) => hasPart(message, type));
  const needed: Readonly<Record<Need, boolean>> = {
    tools: hasItems(body['tools']) || hasItems(body['functions']),
    vision: holds('image_url'),
    json: isObject(format) && format['type'] !== 'text',
    logprobs: body['logprobs'] === true,
    stream: body['stream'] === true,
    choices: typeof body['n'] === 'number' && body['n'] > 1,
    files: holds('file'),
    audio: holds('input_audio') || isObject(body['audio']),
    forced_tools: choice === 'required' || isObject(choice),
    // A provider of the caller's own protocol has that protocol's tools.
    other_tools:
      only === null &&
      (isObject(body['web_search_options']) ||
        objectsOf(body['tools']).some(({ type }) => type !== 'function')),
    responses: only === 'responses',
    messages: only === 'messages',
  };
  return NEEDS.filter((need) => needed[need]);
}

function hasItems(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length > 0;
}

function hasPart({ content }: JsonObject, type: string): boolean {
  return Array.isArray(content) && content.some((part) => isObject(part) && part['type'] === type);
}
