import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, asText, objectsOf } from '../providers/members.ts';
import { unsupported } from '../providers/provider.ts';
import type { ChatBody } from '../types.ts';
import { extractCard } from './cards.ts';
import type { Message } from './conversation.ts';

export interface ExtractRequest {
  readonly messages: readonly Message[];
  /** Tokens; at most what the model can give. */
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly choices: number;
  readonly json: boolean;
  readonly stream: boolean;
}

const mostChoices = 128;

const refuse = (param: string, message: string): Error => unsupported('local', param, message);

/**
 * The parts of a chat request that this model uses. Sampling parameters have no effect, since the same request always
 * gets the same answer.
 * @throws ProviderError refused, for what the model cannot do
 */
export function extractRequest(body: ChatBody): ExtractRequest {
  const choices = body['n'] ?? 1;
  if (typeof choices !== 'number' || !Number.isInteger(choices) || choices < 1 || choices > mostChoices)
    throw refuse('n', `n must be a whole number from 1 to ${mostChoices}.`);
  if (body['logprobs'] === true) throw refuse('logprobs', 'This model does not return log probabilities.');
  if (body['tool_choice'] === 'required' || asObject(body['tool_choice']) !== null)
    throw refuse('tool_choice', 'This model does not call tools.');
  return {
    messages: objectsOf(body['messages']).map(readMessage),
    maxTokens: limitOf(body),
    stop: stopsOf(body['stop']),
    choices,
    json: wantsJson(body['response_format']),
    stream: body['stream'] === true,
  };
}

function limitOf(body: ChatBody): number {
  const param = (body['max_completion_tokens'] ?? null) === null ? 'max_tokens' : 'max_completion_tokens';
  const limit = body[param] ?? extractCard.limits.output_tokens;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1)
    throw refuse(param, `${param} must be a whole number above 0.`);
  return Math.min(limit, extractCard.limits.output_tokens);
}

function stopsOf(value: JsonValue | undefined): string[] {
  const stops = typeof value === 'string' ? [value] : (value ?? []);
  if (!Array.isArray(stops) || !stops.every((stop) => typeof stop === 'string'))
    throw refuse('stop', 'stop must be a string or a list of strings.');
  return stops.filter((stop) => stop !== '');
}

function wantsJson(value: JsonValue | undefined): boolean {
  const type = asObject(value)?.['type'];
  if (type === 'json_schema')
    throw refuse(
      'response_format',
      'This model returns JSON of a fixed shape only: use {"type": "json_object"}.',
    );
  return type === 'json_object';
}

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

function readMessage(message: JsonObject): Message {
  const role = roles[asText(message['role']) ?? ''];
  if (role === undefined) throw refuse('messages', 'This model does not accept messages of that role.');
  return { role, text: textOf(message['content']) };
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  const parts = objectsOf(content);
  if (parts.some(({ type }) => type !== 'text' && type !== 'refusal'))
    throw refuse('messages', 'This model accepts text only.');
  return parts.map((part) => asText(part['text']) ?? asText(part['refusal']) ?? '').join('\n');
}
