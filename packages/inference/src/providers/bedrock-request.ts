import type { JsonObject, JsonValue } from '@tallystick/core';
import type { ChatBody } from '../types.ts';
import { dataOf } from './data-url.ts';
import { asObject, asText, objectsOf, present } from './members.ts';
import { unsupported } from './provider.ts';
import { toolArguments } from './tool-arguments.ts';

const refuse = (param: string, message: string): Error => unsupported('bedrock', param, message);

/** Formats of images and documents by their media types (Bedrock API reference, ImageBlock and DocumentBlock). */
const imageFormats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const documentFormats: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/html': 'html',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/**
 * Converts an OpenAI chat completion request to Bedrock's Converse. Marks of the cache become cache points. Sampling
 * parameters without a counterpart (`seed`, penalties), `user`, `metadata`, `parallel_tool_calls` and the reasoning of
 * models of other makers are left out.
 * @throws ProviderError refused, for everything else that has no counterpart
 */
export function converseRequest(model: string, body: ChatBody): JsonObject {
  if (typeof body['n'] === 'number' && body['n'] > 1)
    throw refuse('n', 'This model returns one choice per call.');
  if (body['logprobs'] === true) throw refuse('logprobs', 'This model does not return log probabilities.');
  if (Object.keys(asObject(body['logit_bias']) ?? {}).length > 0)
    throw refuse('logit_bias', 'This model takes no bias of single tokens.');
  const messages = objectsOf(body['messages']);
  const turns = conversation(messages);
  const system = systemBlocks(messages, body);
  const more = {
    ...thinking(model, body),
    ...(typeof body['top_k'] === 'number' && { top_k: body['top_k'] }),
  };
  return present({
    messages: turns,
    system: system.length > 0 ? system : undefined,
    inferenceConfig: inferenceConfig(body),
    toolConfig: toolConfig(body, turns),
    outputConfig: outputConfig(asObject(body['response_format'])),
    additionalModelRequestFields: Object.keys(more).length > 0 ? more : undefined,
  });
}

const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';

/** A schema can be enforced in this API; JSON without a schema can only be requested. */
function systemBlocks(messages: readonly JsonObject[], body: ChatBody): JsonObject[] {
  const blocks = messages.filter(isSystem).flatMap(({ content }) => blocksOf(content));
  if (asObject(body['response_format'])?.['type'] === 'json_object')
    blocks.push({ text: 'Answer with one JSON object and nothing else, without a code fence.' });
  return blocks;
}

/** In this API, user and assistant take turns, so messages of the same role that follow each other are joined. */
function conversation(messages: readonly JsonObject[]): JsonObject[] {
  const turns: { role: string; content: JsonObject[] }[] = [];
  for (const message of messages) {
    if (isSystem(message)) continue;
    const role = message['role'] === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    const turn = last?.role === role ? last : { role, content: [] };
    if (turn !== last) turns.push(turn);
    turn.content.push(...blocksOfMessage(message));
  }
  return turns;
}

function blocksOfMessage(message: JsonObject): JsonObject[] {
  switch (message['role']) {
    case 'user':
      return blocksOf(message['content']);
    case 'tool':
      return [toolResult(message), ...cachePoint(message)];
    case 'assistant':
      return [
        ...objectsOf(message['reasoning_details']).flatMap(reasoningBlock),
        ...blocksOf(message['content'] ?? message['refusal']),
        ...objectsOf(message['tool_calls']).flatMap((call) => [toolUse(call), ...cachePoint(call)]),
      ];
    default:
      throw refuse('messages', 'This model does not accept messages of that role.');
  }
}

/** Only what Bedrock itself has signed or encrypted: that of other providers has a format or an id. */
function reasoningBlock({ type, text, signature, data, format, id }: JsonObject): JsonObject[] {
  if (format !== undefined || id !== undefined) return [];
  if (type === 'reasoning.text' && signature !== undefined)
    return [{ reasoningContent: { reasoningText: { text: text ?? '', signature } } }];
  return type === 'reasoning.encrypted' && data !== undefined
    ? [{ reasoningContent: { redactedContent: data } }]
    : [];
}

function toolUse(call: JsonObject): JsonObject {
  const { name, arguments: text } = asObject(call['function']) ?? {};
  const input = toolArguments('bedrock', text);
  return { toolUse: { toolUseId: call['id'] ?? '', name: name ?? '', input } };
}

function toolResult({ tool_call_id: id, content, is_error: failed }: JsonObject): JsonObject {
  const status = failed === true ? 'error' : undefined;
  return { toolResult: present({ toolUseId: id ?? '', content: blocksOf(content), status }) };
}

/** Empty text is left out, since this API refuses it. */
function blocksOf(content: JsonValue | undefined): JsonObject[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
  return parts.flatMap((part) => (part['text'] === '' ? [] : [blockOf(part), ...cachePoint(part)]));
}

/** Marks what the provider is to cache: everything up to here. */
function cachePoint({ cache_control: mark }: JsonObject): JsonObject[] {
  const cache = asObject(mark);
  return cache === null ? [] : [{ cachePoint: present({ type: 'default', ttl: cache['ttl'] }) }];
}

function blockOf(part: JsonObject): JsonObject {
  switch (part['type']) {
    case 'text':
      return { text: part['text'] ?? '' };
    case 'refusal':
      return { text: part['refusal'] ?? '' };
    case 'image_url':
      return { image: media(asObject(part['image_url'])?.['url'], imageFormats) };
    case 'file': {
      const { file_data: data, filename } = asObject(part['file']) ?? {};
      return { document: { ...media(data, documentFormats), name: documentName(asText(filename)) } };
    }
    default:
      throw refuse('messages', 'This model accepts text, images and documents only.');
  }
}

/** Accepts only media within the request: nothing is fetched from an address that a caller gives. */
function media(url: JsonValue | undefined, formats: Readonly<Record<string, string>>): JsonObject {
  const found = dataOf(asText(url) ?? '');
  const format = formats[found?.mediaType ?? ''];
  if (found === null || format === undefined)
    throw refuse('messages', `This model accepts data: URLs of ${Object.keys(formats).join(', ')} here.`);
  return { format, source: { bytes: found.data } };
}

/** The name of a file by the characters that this API allows, without its ending. */
function documentName(filename: string | null): string {
  const name = (filename ?? '')
    .replace(/\.\w{1,8}$/, '')
    .replaceAll(/[^\w()[\]-]+/g, ' ')
    .replaceAll('_', ' ')
    .trim();
  return name === '' ? 'document' : name.slice(0, 200);
}

function inferenceConfig(body: ChatBody): JsonObject | undefined {
  const { stop } = body;
  const mapped = {
    maxTokens: body['max_completion_tokens'] ?? body['max_tokens'],
    temperature: body['temperature'],
    topP: body['top_p'],
    stopSequences: typeof stop === 'string' ? [stop] : stop,
  };
  const given = Object.entries(mapped).filter(([, value]) => value !== undefined && value !== null);
  return given.length > 0 ? present(Object.fromEntries(given)) : undefined;
}

function toolConfig(body: ChatBody, turns: readonly JsonObject[]): JsonObject | undefined {
  const list = objectsOf(body['tools']);
  const { tool_choice: choice } = body;
  if (list.length === 0) return undefined;
  if (choice === 'none') {
    const used = turns.some(({ content }) => objectsOf(content).some((block) => 'toolUse' in block));
    if (used)
      throw refuse('tool_choice', 'This model can’t be kept from calling the tools of earlier messages.');
    return undefined;
  }
  return present({
    tools: list.flatMap((tool) => [toolSpec(tool), ...cachePoint(tool)]),
    toolChoice: toolChoice(choice),
  });
}

function toolSpec(tool: JsonObject): JsonObject {
  const definition = asObject(tool['function']);
  if (definition === null) throw refuse('tools', 'This model accepts function tools only.');
  return {
    toolSpec: present({
      name: definition['name'],
      description: definition['description'],
      inputSchema: { json: definition['parameters'] ?? { type: 'object', properties: {} } },
      strict: definition['strict'] ?? undefined,
    }),
  };
}

function toolChoice(choice: JsonValue | undefined): JsonObject | undefined {
  if (choice === 'required') return { any: {} };
  const name = asObject(asObject(choice)?.['function'])?.['name'];
  if (name !== undefined) return { tool: { name } };
  if (asObject(choice) !== null)
    throw refuse('tool_choice', 'This model can be made to call one tool, or any.');
  return choice === 'auto' ? { auto: {} } : undefined;
}

function outputConfig(format: JsonObject | null): JsonObject | undefined {
  if (format?.['type'] !== 'json_schema') return undefined;
  const { name, description, schema } = asObject(format['json_schema']) ?? {};
  if (asObject(schema) === null) throw refuse('response_format', 'The response format has no schema.');
  const jsonSchema = present({ schema: JSON.stringify(schema), name, description });
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

/** Each maker's models have members of their own for reasoning. */
function thinking(model: string, body: ChatBody): JsonObject {
  const reasoning = asObject(body['reasoning']);
  const effort = reasoning?.['effort'] ?? body['reasoning_effort'] ?? undefined;
  const { enabled, max_tokens: budget } = reasoning ?? {};
  if (reasoning === null && effort === undefined) return {};
  if (model.includes('anthropic.')) {
    if (enabled === false) return { thinking: { type: 'disabled' } };
    if (typeof budget === 'number') return { thinking: { type: 'enabled', budget_tokens: budget } };
    // An effort alone does not say whether to think.
    return enabled === true ? { thinking: { type: 'adaptive' } } : {};
  }
  if (enabled === false && effort === undefined) return {};
  if (model.includes('openai.') && effort !== undefined) return { reasoning_effort: effort };
  if (model.includes('amazon.nova-2') && effort !== undefined)
    return { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } };
  throw refuse(
    reasoning === null ? 'reasoning_effort' : 'reasoning',
    'This model takes no settings of reasoning.',
  );
}
