import type { JsonObject, JsonValue } from '@tallystick/core';
import type { ChatBody } from '../types.ts';
import { asObject, asText, objectsOf, present } from './members.ts';

/** Members by which the inner form says more than OpenAI's chat completions, whose servers refuse what they don't know. */
const REQUEST = ['cache_control', 'context_management', 'output_config', 'reasoning', 'top_k'];
const MESSAGE = [
  'annotations',
  'cache_control',
  'is_error',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
];
/** The most characters of `user` that OpenAI takes. */
const MAX_USER = 64;

/**
 * An inner body that came from another protocol, in OpenAI's own words. Left out are cache marks, since these servers
 * cache by themselves, the reasoning of earlier turns, which they do not read, the budget of reasoning, and a `user` that is
 * too long for them. Images and files of a tool's result follow it in a message of the user.
 * @param reasons whether the model knows an effort of reasoning
 */
export function openaiRequest(body: ChatBody, reasons: boolean): ChatBody {
  const effort = reasons ? effortOf(body) : undefined;
  const { reasoning_effort: _effort, user, ...rest } = without(body, REQUEST);
  const { tools } = body;
  return {
    ...rest,
    ...(typeof user === 'string' && user.length <= MAX_USER && { user }),
    messages: conversation(objectsOf(body['messages'])),
    ...(Array.isArray(tools) && { tools: objectsOf(tools).map(toolOf) }),
    ...(effort !== undefined && { reasoning_effort: effort }),
  };
}

/** Anthropic's `max` is above what these servers know. */
function effortOf(body: ChatBody): JsonValue | undefined {
  const effort = body['reasoning_effort'] ?? asObject(body['reasoning'])?.['effort'];
  return effort === 'max' ? 'high' : (effort ?? undefined);
}

function conversation(messages: readonly JsonObject[]): JsonObject[] {
  const turns: JsonObject[] = [];
  /** What the results of one turn's tool calls hold beside text: it must follow the last of them. */
  let held: JsonObject[] = [];
  const release = (): void => {
    if (held.length > 0) turns.push({ role: 'user', content: held });
    held = [];
  };
  for (const message of messages) {
    const { role, content, tool_calls: calls } = message;
    if (role !== 'tool') release();
    const parts = Array.isArray(content) ? objectsOf(content).map(partOf) : null;
    const isResult = role === 'tool' && parts !== null;
    turns.push({
      ...without(message, MESSAGE),
      ...(parts !== null && { content: isResult ? textOf(parts) : parts }),
      ...(Array.isArray(calls) && { tool_calls: objectsOf(calls).map(callOf) }),
    });
    if (isResult) held.push(...beside(parts, message['tool_call_id']));
  }
  release();
  return turns;
}

function textOf(parts: readonly JsonObject[]): string {
  return parts.flatMap(({ text }) => asText(text) ?? []).join('\n');
}

/** The parts of a tool's result that are not text, after a note that says of which call they are. */
function beside(parts: readonly JsonObject[], id: JsonValue | undefined): JsonObject[] {
  const others = parts.filter(({ type }) => type !== 'text');
  if (others.length === 0) return [];
  return [{ type: 'text', text: `From the result of the tool call ${asText(id) ?? ''}:` }, ...others];
}

/** A part in OpenAI's words. A file that is sent in the request must have a name there. */
function partOf(part: JsonObject): JsonObject {
  const file = part['type'] === 'file' ? asObject(part['file']) : null;
  return { ...unmarked(part), ...(file !== null && { file: { filename: 'document', ...file } }) };
}

function callOf(call: JsonObject): JsonObject {
  return without(call, ['cache_control', 'extra_content']);
}

function toolOf(tool: JsonObject): JsonObject {
  return tool['type'] === 'function'
    ? present({ type: 'function', function: tool['function'] })
    : unmarked(tool);
}

function unmarked(value: JsonObject): JsonObject {
  return without(value, ['cache_control']);
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
