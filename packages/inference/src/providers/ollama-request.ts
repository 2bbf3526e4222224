import type { JsonObject, JsonValue } from '@tallystick/core';
import type { ChatBody } from '../types.ts';
import { asObject, asText, objectsOf, present } from './members.ts';
import { unsupported } from './provider.ts';
import { toolArguments } from './tool-arguments.ts';

const refuse = (param: string, message: string): Error => unsupported('ollama', param, message);

/**
 * Converts an OpenAI chat completion request to Ollama's own chat API. The server loads the model with its own context,
 * beyond which it silently drops the start of a prompt.
 * @throws ProviderError refused, for what has no counterpart
 */
export function ollamaRequest(model: string, body: ChatBody): JsonObject {
  if (typeof body['n'] === 'number' && body['n'] > 1)
    throw refuse('n', 'This model returns one choice per call.');
  if (body['logprobs'] === true) throw refuse('logprobs', 'This model does not return log probabilities.');
  const choice = body['tool_choice'];
  if (choice === 'required' || asObject(choice) !== null)
    throw refuse('tool_choice', 'This model can’t be forced to call a tool.');
  return present({
    model,
    messages: messages(objectsOf(body['messages'])),
    tools: choice === 'none' ? undefined : (body['tools'] ?? undefined),
    format: format(asObject(body['response_format'])),
    options: options(body),
    stream: body['stream'] === true,
  });
}

function options(body: ChatBody): JsonObject {
  const { stop } = body;
  const mapped = {
    num_predict: body['max_completion_tokens'] ?? body['max_tokens'],
    stop: typeof stop === 'string' ? [stop] : stop,
    temperature: body['temperature'],
    top_p: body['top_p'],
    seed: body['seed'],
    frequency_penalty: body['frequency_penalty'],
    presence_penalty: body['presence_penalty'],
  };
  return present(Object.fromEntries(Object.entries(mapped).filter(([, value]) => value !== null)));
}

function format(format: JsonObject | null): JsonValue | undefined {
  if (format?.['type'] === 'json_object') return 'json';
  if (format?.['type'] !== 'json_schema') return undefined;
  return asObject(asObject(format['json_schema'])?.['schema']) ?? 'json';
}

/** In this API, a tool's result names its tool, not the call that it answers. */
function messages(list: readonly JsonObject[]): JsonObject[] {
  const names = new Map<JsonValue | undefined, JsonValue>();
  return list.map((message) => {
    const { role, content, tool_call_id: id } = message;
    const calls = objectsOf(message['tool_calls']);
    for (const call of calls) names.set(call['id'], asObject(call['function'])?.['name'] ?? '');
    const images = objectsOf(content).filter((part) => part['type'] === 'image_url');
    return present({
      role: role === 'developer' ? 'system' : (role ?? ''),
      content: textOf(content),
      images: images.length > 0 ? images.map(imageData) : undefined,
      tool_calls: calls.length > 0 ? calls.map(toolCall) : undefined,
      tool_name: role === 'tool' ? (names.get(id) ?? '') : undefined,
    });
  });
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  const parts = objectsOf(content);
  if (parts.some(({ type }) => type !== 'text' && type !== 'image_url' && type !== 'refusal'))
    throw refuse('messages', 'This model accepts text and images only.');
  return parts.map((part) => asText(part['text']) ?? asText(part['refusal']) ?? '').join('');
}

/** Accepts only images within the request: nothing is fetched from an address that a caller gives. */
function imageData(part: JsonObject): string {
  const url = asText(asObject(part['image_url'])?.['url']) ?? '';
  const [, data] = /^data:[^,]{0,100};base64,(.*)$/s.exec(url) ?? [];
  if (data === undefined) throw refuse('messages', 'This model accepts images as data: URLs only.');
  return data;
}

function toolCall(call: JsonObject): JsonObject {
  const { name, arguments: text } = asObject(call['function']) ?? {};
  return { function: { name: name ?? '', arguments: toolArguments('ollama', text) } };
}
