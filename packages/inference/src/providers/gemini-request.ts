import type { JsonObject, JsonValue } from '@tallystick/core';
import type { ChatBody } from '../types.ts';
import { dataOf } from './data-url.ts';
import { asObject, asText, objectsOf, present } from './members.ts';
import { unsupported } from './provider.ts';
import { toolArguments } from './tool-arguments.ts';

/** Marks reasoning that only Gemini can read, in `reasoning_details`. */
export const geminiReasoning = 'google-gemini-v1';

/** Sent where another model's tool call has no signature, which Gemini 3 otherwise refuses (Gemini API, thought signatures). */
const noSignature = 'skip_thought_signature_validator';

/** Tokens of thinking for an effort, as in Google's own API for OpenAI's clients. */
const budgets: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
};

const refuse = (param: string, message: string): Error => unsupported('gemini', param, message);

/**
 * Converts an OpenAI chat completion request to `generateContent` of the Gemini API and of Vertex AI. What has no
 * counterpart and changes no words of the answer is left out: `user`, `metadata`, `parallel_tool_calls`, marks of the
 * cache (Gemini caches by itself), reasoning of other models.
 * @throws ProviderError refused, for everything else that has no counterpart
 */
export function geminiRequest(model: string, body: ChatBody): JsonObject {
  if (typeof body['n'] === 'number' && body['n'] > 1)
    throw refuse('n', 'This model returns one choice per call.');
  if (body['logprobs'] === true) throw refuse('logprobs', 'This model does not return log probabilities.');
  if (Object.keys(asObject(body['logit_bias']) ?? {}).length > 0)
    throw refuse('logit_bias', 'This model takes no bias of single tokens.');
  const messages = objectsOf(body['messages']);
  const isNew = isGemini3(model);
  const system = messages.filter(isSystem).flatMap(({ content }) => partsOf(content));
  return present({
    systemInstruction: system.length > 0 ? { parts: system } : undefined,
    contents: contents(messages, isNew),
    ...tools(body),
    generationConfig: generationConfig(body, isNew),
  });
}

/** Gemini 3 and later gives tool calls ids, requires signatures and takes levels of thinking. */
function isGemini3(model: string): boolean {
  const [, major] = /gemini-(\d+)/.exec(model) ?? [];
  return major === undefined || Number(major) >= 3;
}

const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer';

/** In this API, the results of one turn's tool calls are parts of one message, and each names its tool. */
function contents(messages: readonly JsonObject[], isNew: boolean): JsonObject[] {
  const turns: JsonObject[] = [];
  const names = new Map<JsonValue | undefined, JsonValue>();
  let results: JsonObject[] | null = null;
  for (const message of messages) {
    if (isSystem(message)) continue;
    const { role, content } = message;
    if (role === 'tool') {
      if (results === null) turns.push({ role: 'user', parts: (results = []) });
      results.push(toolResult(message, names, isNew));
      continue;
    }
    results = null;
    for (const call of objectsOf(message['tool_calls']))
      names.set(call['id'], asObject(call['function'])?.['name'] ?? '');
    if (role === 'user') turns.push({ role, parts: partsOf(content) });
    else if (role === 'assistant') turns.push({ role: 'model', parts: answerParts(message, isNew) });
    else throw refuse('messages', 'This model does not accept messages of that role.');
  }
  return turns;
}

function answerParts(message: JsonObject, isNew: boolean): JsonObject[] {
  const parts = partsOf(message['content'] ?? message['refusal']);
  const [signature] = objectsOf(message['reasoning_details'])
    .filter(({ format }) => format === geminiReasoning)
    .flatMap(({ data }) => data ?? []);
  if (signature !== undefined) {
    const last = parts.pop() ?? { text: '' };
    parts.push({ ...last, thoughtSignature: signature });
  }
  const calls = objectsOf(message['tool_calls']).map((call, index) => {
    const { name, arguments: text } = asObject(call['function']) ?? {};
    const google = asObject(asObject(call['extra_content'])?.['google']);
    return present({
      functionCall: present({
        id: isNew ? call['id'] : undefined,
        name: name ?? '',
        args: toolArguments('gemini', text),
      }),
      thoughtSignature: google?.['thought_signature'] ?? (isNew && index === 0 ? noSignature : undefined),
    });
  });
  return [...parts, ...calls];
}

function toolResult(
  { tool_call_id: id, content, is_error: failed }: JsonObject,
  names: ReadonlyMap<JsonValue | undefined, JsonValue>,
  isNew: boolean,
): JsonObject {
  const name = names.get(id);
  if (name === undefined) throw refuse('messages', 'A result is of a tool call that is not in the messages.');
  const parts = partsOf(content);
  const text = parts.map((part) => asText(part['text']) ?? '').join('');
  const media = parts.filter((part) => part['inlineData'] !== undefined);
  return {
    functionResponse: present({
      id: isNew ? id : undefined,
      name,
      response: failed === true ? { error: text } : { output: text },
      parts: media.length > 0 ? media : undefined,
    }),
  };
}

/** Empty text is left out, since this API refuses a part without content. */
function partsOf(content: JsonValue | undefined): JsonObject[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
  return parts.filter((part) => part['text'] !== '').map(partOf);
}

/** Accepts only media within the request: nothing is fetched from an address that a caller gives. */
function partOf(part: JsonObject): JsonObject {
  switch (part['type']) {
    case 'text':
      return { text: part['text'] ?? '' };
    case 'refusal':
      return { text: part['refusal'] ?? '' };
    case 'image_url':
      return { inlineData: media(asObject(part['image_url'])?.['url']) };
    case 'file':
      return { inlineData: media(asObject(part['file'])?.['file_data']) };
    case 'input_audio': {
      const { data = '', format = '' } = asObject(part['input_audio']) ?? {};
      return { inlineData: { mimeType: `audio/${asText(format) ?? ''}`, data } };
    }
    default:
      throw refuse('messages', 'This model accepts text, images, speech and files only.');
  }
}

function media(url: JsonValue | undefined): JsonObject {
  const found = dataOf(asText(url) ?? '');
  if (found === null) throw refuse('messages', 'This model accepts images and files as data: URLs only.');
  return { mimeType: found.mediaType, data: found.data };
}

function tools(body: ChatBody): JsonObject {
  const list = objectsOf(body['tools']);
  if (list.length === 0) return {};
  const functionDeclarations = list.map((tool) => {
    const definition = asObject(tool['function']);
    if (definition === null) throw refuse('tools', 'This model accepts function tools only.');
    return present({
      name: definition['name'],
      description: definition['description'],
      parametersJsonSchema: definition['parameters'],
    });
  });
  const functionCallingConfig = toolChoice(body['tool_choice']);
  return present({
    tools: [{ functionDeclarations }],
    toolConfig: functionCallingConfig && { functionCallingConfig },
  });
}

function toolChoice(choice: JsonValue | undefined): JsonObject | undefined {
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  const name = asObject(asObject(choice)?.['function'])?.['name'];
  if (name !== undefined) return { mode: 'ANY', allowedFunctionNames: [name] };
  if (asObject(choice) !== null)
    throw refuse('tool_choice', 'This model can be made to call one tool, or any.');
  return choice === 'auto' ? { mode: 'AUTO' } : undefined;
}

function generationConfig(body: ChatBody, isNew: boolean): JsonObject {
  const { stop } = body;
  const mapped = {
    maxOutputTokens: body['max_completion_tokens'] ?? body['max_tokens'],
    temperature: body['temperature'],
    topP: body['top_p'],
    topK: body['top_k'],
    seed: body['seed'],
    presencePenalty: body['presence_penalty'],
    frequencyPenalty: body['frequency_penalty'],
    stopSequences: typeof stop === 'string' ? [stop] : stop,
    thinkingConfig: thinkingConfig(body, isNew),
    ...outputFormat(body['response_format']),
  };
  return present(Object.fromEntries(Object.entries(mapped).filter(([, value]) => value !== null)));
}

/**
 * Summaries of the thoughts are requested by whoever sends `reasoning`; `reasoning_effort` alone does not show them.
 * Gemini 3 can't be kept from thinking: if that is asked for without naming an effort, it thinks as little as it can.
 */
function thinkingConfig(body: ChatBody, isNew: boolean): JsonObject | undefined {
  const reasoning = asObject(body['reasoning']);
  const effort = asText(reasoning?.['effort']) ?? asText(body['reasoning_effort']);
  const tokens = reasoning?.['max_tokens'] ?? undefined;
  if (reasoning?.['enabled'] === false) return isNew ? { thinkingLevel: 'low' } : { thinkingBudget: 0 };
  if (effort === null && reasoning === null) return undefined;
  const isLevel = isNew && tokens === undefined && effort !== null;
  if (isLevel && effort === 'none')
    throw refuse(
      'reasoning_effort',
      'This model does not answer without reasoning; the least effort is minimal.',
    );
  return present({
    thinkingLevel: isLevel ? (effort === 'xhigh' ? 'high' : effort) : undefined,
    thinkingBudget: isLevel ? undefined : (tokens ?? budgets[effort ?? '']),
    includeThoughts: reasoning === null ? undefined : true,
  });
}

function outputFormat(value: JsonValue | undefined): Record<string, JsonValue | undefined> {
  const format = asObject(value);
  if (format?.['type'] === 'json_object') return { responseMimeType: 'application/json' };
  if (format?.['type'] !== 'json_schema') return {};
  const schema = asObject(asObject(format['json_schema'])?.['schema']);
  if (schema === null) throw refuse('response_format', 'The response format has no schema.');
  return { responseMimeType: 'application/json', responseJsonSchema: schema };
}
