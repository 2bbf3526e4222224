import type { JsonObject, JsonValue } from '@tallystick/core';
import { blockOfDetail, foreignBlock } from '../../providers/anthropic-reasoning.ts';
import { asObject, asText, objectsOf } from '../../providers/members.ts';
import { argumentsText } from '../../providers/tool-arguments.ts';
import { readUsage } from '../../providers/usage.ts';
import type { Usage } from '../../types.ts';
import { textOf } from '../answer-text.ts';
import type { Given } from '../protocol.ts';

/** An inner answer as a message: thinking, text, tool calls. */
export function answerOf(inner: JsonObject, given: Given): JsonObject {
  const [choice = {}] = objectsOf(inner['choices']);
  const message = asObject(choice['message']) ?? {};
  const { content, refusal, annotations, tool_calls: calls } = message;
  const text = textOf(content);
  const blocks = [
    ...detailsOf(message).map(blockOfDetail),
    ...(text === '' ? [] : [{ ...textBlock(text), citations: citationsOf(annotations) }]),
    ...(asText(refusal) ? [textBlock(asText(refusal) ?? '')] : []),
    ...objectsOf(calls).flatMap((call, index) => {
      const named = { ...call, id: asText(call['id']) || toolIdOf(given, index) };
      return [...extraOf(named), toolUse(named)];
    }),
  ];
  const usage = readUsage(inner);
  return {
    ...messageHead(given),
    content: blocks,
    ...stopOf(choice, { refusal: asText(refusal), calls: objectsOf(calls).length > 0 }),
    usage: formatMessageUsage(typeof usage === 'object' ? usage : null),
  };
}

/** The members of a message that are known before it is said. */
export function messageHead({ id, model }: Given): JsonObject {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, container: null, diagnostics: null };
}

export function textBlock(text: string): JsonObject {
  return { type: 'text', text, citations: null };
}

/** The id of a call that its provider gives none, which its result could not name. */
export function toolIdOf({ id }: Given, index: number): string {
  return `toolu_${id}_${index}`;
}

export function toolUseBlock(id: string, name: string, input: JsonValue): JsonObject {
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } };
}

/** What a provider wants back with its tool call, in a block before it. */
export function extraOf({ id, extra_content: extra }: JsonObject): JsonObject[] {
  return extra === undefined || extra === null ? [] : [foreignBlock({ id: id ?? '', extra_content: extra })];
}

function toolUse(call: JsonObject): JsonObject {
  const { name, arguments: text } = asObject(call['function']) ?? {};
  return toolUseBlock(asText(call['id']) ?? '', asText(name) ?? '', inputOf(argumentsText(text)));
}

/** A model may call a tool with arguments that are no JSON object: the caller sees them, and can tell it so. */
function inputOf(text: string): JsonObject {
  try {
    const value = asObject(JSON.parse(text === '' ? '{}' : text));
    if (value !== null) return value;
  } catch {
    // Not JSON.
  }
  return { invalid_arguments: text };
}

/** The reasoning of a message or a delta; some providers give its text alone. */
export function detailsOf(message: JsonObject): JsonObject[] {
  const details = objectsOf(message['reasoning_details']);
  if (details.length > 0) return details;
  const text = asText(message['reasoning_content']) || asText(message['reasoning']) || '';
  return text === '' ? [] : [{ type: 'reasoning.text', text }];
}

/** Web pages that an answer cites. OpenAI does not say which of their words. */
export function citationsOf(annotations: JsonValue | undefined): JsonObject[] | null {
  const cited = objectsOf(annotations)
    .map((annotation) => asObject(annotation['url_citation']))
    .filter((citation) => citation !== null);
  if (cited.length === 0) return null;
  return cited.map(({ url, title }) => ({
    type: 'web_search_result_location',
    url: asText(url) ?? '',
    title: asText(title),
    cited_text: '',
    encrypted_index: '',
  }));
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** Stop reasons of this API that chat completions have no word for. */
const OWN_REASONS: ReadonlySet<string> = new Set(['pause_turn', 'model_context_window_exceeded']);

/** What an answer said that tells why it ended. */
interface Said {
  readonly refusal: string | null;
  /** Whether it calls a tool. OpenAI's API ends a call that was forced with `stop`; clients of this one go by the reason. */
  readonly calls: boolean;
}

/** Why an answer ended. @param choice with `finish_reason`; `stop_reason` is the stop text that was met, if it is known */
export function stopOf(choice: JsonObject, { refusal, calls }: Said): JsonObject {
  const { finish_reason: finish, native_finish_reason: native, stop_reason: stop } = choice;
  const sequence = asText(stop);
  const own = OWN_REASONS.has(asText(native) ?? '') ? asText(native) : null;
  const ended = sequence !== null ? 'stop_sequence' : calls ? 'tool_use' : 'end_turn';
  const reason = own ?? STOP_REASONS[asText(finish) ?? ''] ?? ended;
  const refused = refusal !== null && refusal !== '' ? 'refusal' : reason;
  return {
    stop_reason: refused,
    stop_sequence: refused === 'stop_sequence' ? sequence : null,
    stop_details:
      refused === 'refusal' ? { type: 'refusal', category: null, explanation: refusal || null } : null,
  };
}

/** The `usage` of a message. In this API, tokens read from and written to the cache are not part of the input tokens. */
export function formatMessageUsage(usage: Usage | null): JsonObject {
  const { promptTokens = 0, completionTokens = 0, cachedTokens = 0 } = usage ?? {};
  const written = usage?.cacheWriteTokens ?? 0;
  const hidden = usage?.hidden;
  return {
    input_tokens: promptTokens - cachedTokens - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    output_tokens_details: typeof hidden === 'number' ? { thinking_tokens: hidden } : null,
    cache_creation: null,
    inference_geo: null,
    server_tool_use: null,
    service_tier: null,
    speed: null,
  };
}
