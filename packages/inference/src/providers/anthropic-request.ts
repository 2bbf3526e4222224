import type { JsonObject, JsonValue } from '@tallystick/core';
import type { ChatBody } from '../types.ts';
import { blockOfDetail, isForeignBlock } from './anthropic-reasoning.ts';
import { dataOf } from './data-url.ts';
import { asObject, asText, objectsOf, present } from './members.ts';
import { unsupported } from './provider.ts';
import { toolArguments } from './tool-arguments.ts';

/** The Messages API requires a limit; a caller that gives none gets this one. */
const defaultMaxTokens = 4_096;

const refuse = (param: string, message: string): Error => unsupported('anthropic', param, message);

/**
 * Converts an OpenAI chat completion request to Anthropic's Messages API. Text, tool definitions, `cache_control` marks
 * and the model's own earlier reasoning pass unchanged. Sampling parameters without a counterpart (`seed`, penalties,
 * `logit_bias`), an effort of reasoning without a budget, and the reasoning of other models are left out; what the answer
 * depends on is refused.
 * @throws ProviderError refused
 */
export function messagesRequest(model: string, body: ChatBody): JsonObject {
  if (typeof body['n'] === 'number' && body['n'] > 1)
    throw refuse('n', 'This model returns one choice per call.');
  if (body['logprobs'] === true) throw refuse('logprobs', 'This model does not return log probabilities.');
  const messages = objectsOf(body['messages']);
  const limit = body['max_completion_tokens'] ?? body['max_tokens'] ?? defaultMaxTokens;
  const format = outputFormat(body['response_format']);
  const system = systemBlocks(messages, format === 'any_json');
  return present({
    model,
    max_tokens: limit,
    system: system.length > 0 ? system : undefined,
    messages: conversation(messages),
    tools: tools(body['tools']),
    tool_choice: toolChoice(body),
    output_config: outputConfig(body, format),
    thinking: thinking(asObject(body['reasoning'])),
    stop_sequences: typeof body['stop'] === 'string' ? [body['stop']] : (body['stop'] ?? undefined),
    temperature: typeof body['temperature'] === 'number' ? Math.min(body['temperature'], 1) : undefined,
    top_p: body['top_p'] ?? undefined,
    top_k: body['top_k'] ?? undefined,
    cache_control: body['cache_control'] ?? undefined,
    service_tier: serviceTiers[asText(body['service_tier']) ?? ''],
    metadata: typeof body['user'] === 'string' ? { user_id: body['user'] } : undefined,
    stream: body['stream'] === true ? true : undefined,
  });
}

/** OpenAI's other tiers have no counterpart. */
const serviceTiers: Readonly<Record<string, string>> = { auto: 'auto', default: 'standard_only' };

/** Thinking is asked for by its budget, or left to the model; an effort alone does not say how. */
function thinking(reasoning: JsonObject | null): JsonObject | undefined {
  const { enabled, max_tokens: budget, display } = reasoning ?? {};
  if (enabled === false) return { type: 'disabled' };
  if (typeof budget === 'number') return present({ type: 'enabled', budget_tokens: budget, display });
  return enabled === true ? present({ type: 'adaptive', display }) : undefined;
}

function outputConfig(body: ChatBody, format: OutputFormat): JsonObject | undefined {
  const effort = asObject(body['output_config'])?.['effort'];
  const config = present({ effort, format: typeof format === 'object' ? format : undefined });
  return Object.keys(config).length > 0 ? config : undefined;
}

const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';

/** In this API, system messages are outside the conversation, wherever they came. */
function systemBlocks(messages: readonly JsonObject[], wantsJson: boolean): JsonObject[] {
  const blocks = messages.filter(isSystem).flatMap(({ content }) => contentBlocks(content));
  if (wantsJson)
    blocks.push({
      type: 'text',
      text: 'Answer with one JSON object and nothing else, without a code fence.',
    });
  return blocks;
}

function conversation(messages: readonly JsonObject[]): JsonObject[] {
  const turns: JsonObject[] = [];
  let results: JsonObject[] = [];
  for (const message of messages) {
    if (isSystem(message)) continue;
    if (message['role'] === 'tool') {
      // The results of one turn's tool calls must be together in the next message.
      if (results.length === 0) turns.push({ role: 'user', content: results });
      results.push(toolResult(message));
      continue;
    }
    results = [];
    turns.push(turn(message));
  }
  return turns;
}

function turn(message: JsonObject): JsonObject {
  const { role, content } = message;
  if (role === 'user')
    return { role, content: typeof content === 'string' ? content : contentBlocks(content) };
  if (role !== 'assistant') throw refuse('messages', 'This model does not accept messages of that role.');
  const thought = objectsOf(message['reasoning_details']).map(blockOfDetail);
  const own = thought.filter((block) => !isForeignBlock(block));
  const converted = contentBlocks(content ?? message['refusal']);
  return { role, content: [...own, ...converted, ...objectsOf(message['tool_calls']).map(toolUse)] };
}

function toolUse(call: JsonObject): JsonObject {
  const { name, arguments: text } = asObject(call['function']) ?? {};
  return present({
    type: 'tool_use',
    id: call['id'] ?? '',
    name: name ?? '',
    input: toolArguments('anthropic', text),
    cache_control: call['cache_control'],
  });
}

function toolResult(message: JsonObject): JsonObject {
  const { tool_call_id: id, content, is_error: failed, cache_control: cache } = message;
  const converted = typeof content === 'string' ? content : contentBlocks(content);
  return present({
    type: 'tool_result',
    tool_use_id: id ?? '',
    content: converted,
    is_error: failed,
    cache_control: cache,
  });
}

/** Empty text is left out, since the Messages API refuses it. */
function contentBlocks(content: JsonValue | undefined): JsonObject[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
  return parts.filter((part) => part['text'] !== '').map(contentBlock);
}

function contentBlock(part: JsonObject): JsonObject {
  const cache = part['cache_control'] === undefined ? {} : { cache_control: part['cache_control'] };
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: part['text'] ?? '', ...cache };
    case 'refusal':
      return { type: 'text', text: part['refusal'] ?? '' };
    case 'image_url':
      return {
        type: 'image',
        source: sourceOf(asText(asObject(part['image_url'])?.['url']) ?? ''),
        ...cache,
      };
    case 'file':
      return { ...documentBlock(asObject(part['file']) ?? {}), ...cache };
    default:
      throw refuse('messages', 'This model accepts text, images and documents only.');
  }
}

function sourceOf(url: string): JsonObject {
  const found = dataOf(url);
  return found === null
    ? { type: 'url', url }
    : { type: 'base64', media_type: found.mediaType, data: found.data };
}

/** A file by its `data:` or `https:` URL. Files that were uploaded to OpenAI are unknown here. */
function documentBlock({ file_data: data, filename }: JsonObject): JsonObject {
  const url = asText(data);
  if (url === null) throw refuse('messages', 'This model accepts files by `file_data` only.');
  const found = dataOf(url);
  const source =
    found?.mediaType === 'text/plain'
      ? { type: 'text', media_type: 'text/plain', data: Buffer.from(found.data, 'base64').toString() }
      : sourceOf(url);
  return present({ type: 'document', source, title: filename });
}

function tools(list: JsonValue | undefined): JsonObject[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return objectsOf(list).map((tool) => {
    const { type: _type, function: called, ...hints } = tool;
    const definition = asObject(called);
    if (definition === null) throw refuse('tools', 'This model accepts function tools only.');
    return present({
      name: definition['name'],
      description: definition['description'],
      input_schema: definition['parameters'] ?? { type: 'object', properties: {} },
      strict: definition['strict'] ?? undefined,
      ...hints,
    });
  });
}

function toolChoice({
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
}: ChatBody): JsonObject | undefined {
  if (!Array.isArray(tools) || tools.length === 0) return undefined;
  if (choice === 'none') return { type: 'none' };
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === 'required') return { type: 'any', ...single };
  const name = asObject(asObject(choice)?.['function'])?.['name'];
  if (name !== undefined) return { type: 'tool', name, ...single };
  return choice === 'auto' || parallel === false ? { type: 'auto', ...single } : undefined;
}

type OutputFormat = JsonObject | 'any_json' | 'text';

/** A schema can be enforced in this API; JSON without a schema can only be requested. */
function outputFormat(value: JsonValue | undefined): OutputFormat {
  const format = asObject(value);
  if (format?.['type'] === 'json_object') return 'any_json';
  if (format?.['type'] !== 'json_schema') return 'text';
  const schema = asObject(asObject(format['json_schema'])?.['schema']);
  if (schema === null) throw refuse('response_format', 'The response format has no schema.');
  return { type: 'json_schema', schema };
}
