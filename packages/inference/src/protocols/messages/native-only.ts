import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, objectsOf } from '../../providers/members.ts';
import { urlOf } from './conversation.ts';
import { isCustom } from './inner.ts';
import { messagesRequestSchema } from './schema.ts';

/** Members that the inner form expresses. */
const TRANSLATED: ReadonlySet<string> = new Set([
  ...Object.keys(messagesRequestSchema.shape),
  'output_format',
]);

/** Members that do nothing where the provider does not speak this API, and whose absence changes no answer's meaning. */
const HINTS: ReadonlySet<string> = new Set(['cache_control', 'context_management', 'diagnostics']);

/** Members of blocks that the inner form expresses, and hints; by the blocks' type. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'],
  image: ['source'],
  document: ['source', 'title'],
  tool_use: ['id', 'name', 'input', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
};

/** Returns the paths of the members that only a provider with the Messages API can serve. */
export function nativeOnly(body: JsonObject): readonly string[] {
  const { tools, thinking, output_config: config, messages } = body;
  return [
    ...Object.keys(body).filter((name) => !TRANSLATED.has(name) && !HINTS.has(name) && isSaid(body[name])),
    ...objectsOf(tools).flatMap((tool, index) => ofTool(tool, `tools[${index}]`)),
    ...(isKnownThinking(asObject(thinking)) ? [] : ['thinking']),
    ...unknown(asObject(config) ?? {}, ['effort', 'format'], 'output_config'),
    ...objectsOf(messages).flatMap(({ content }, index) => ofContent(content, `messages[${index}].content`)),
  ];
}

/** Whether a value says anything: the API's own defaults do not. */
function isSaid(value: JsonValue | undefined): boolean {
  const isEmpty = Array.isArray(value) && value.length === 0;
  return value !== undefined && value !== null && value !== false && value !== 'standard' && !isEmpty;
}

function unknown(value: JsonObject, known: readonly string[], path: string): string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name) && isSaid(value[name]))
    .map((name) => `${path}.${name}`);
}

function ofTool(tool: JsonObject, path: string): string[] {
  if (!isCustom(tool)) return [`${path}.type`];
  const { defer_loading: deferred, allowed_callers: callers } = tool;
  const isDirect = callers === undefined || (Array.isArray(callers) && callers.includes('direct'));
  return [
    ...(deferred === true ? [`${path}.defer_loading`] : []),
    ...(isDirect ? [] : [`${path}.allowed_callers`]),
  ];
}

function isKnownThinking(thinking: JsonObject | null): boolean {
  const { type, budget_tokens: budget } = thinking ?? { type: 'disabled' };
  return type === 'adaptive' || type === 'disabled' || (type === 'enabled' && budget !== undefined);
}

function ofContent(content: JsonValue | undefined, path: string): string[] {
  return objectsOf(content).flatMap((block, index) => ofBlock(block, `${path}[${index}]`));
}

function ofBlock(block: JsonObject, path: string): string[] {
  const { type, source, content, citations } = block;
  const known = BLOCKS[typeof type === 'string' ? type : ''];
  if (known === undefined) return [`${path}.type`];
  const isUnreadable = source !== undefined && urlOf(asObject(source) ?? {}) === null;
  const plain = type === 'document' && asObject(citations)?.['enabled'] !== true ? ['citations'] : [];
  return [
    ...unknown(block, ['type', 'cache_control', ...known, ...plain], path),
    ...(isUnreadable ? [`${path}.source`] : []),
    ...(type === 'tool_result' ? ofContent(content, `${path}.content`) : []),
  ];
}
