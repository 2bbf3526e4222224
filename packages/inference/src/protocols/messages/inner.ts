import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, asText, objectsOf, present } from '../../providers/members.ts';
import type { ChatBody } from '../../types.ts';
import { stateless, unsupportedMember } from '../protocol.ts';
import { conversationOf } from './conversation.ts';

const COMPACTION =
  "the provider would write a summary of the conversation first, whose tokens its `usage` does not add to the answer's.";

/**
 * A Messages request in inner form; `nativeOnly` names what has no counterpart there.
 * @throws invalid_request for a class of service or a place that has prices of its own, for another model that advises or answers at its
 * own, and for a summary that is billed beside the answer; state_not_kept for a thread, whose earlier turns would stand in the operator's
 * account, unseen and without a price here
 */
export function innerOf(body: JsonObject): ChatBody {
  const { speed, thread, fallbacks, inference_geo: place } = body;
  if (thread !== undefined && thread !== null)
    throw stateless('thread', 'Conversations are not kept. Send the whole of it, without `thread`.');
  if (speed !== undefined && speed !== null && speed !== 'standard')
    throw unsupportedMember(
      'speed',
      'answers at another speed have prices of their own, which are not known here.',
    );
  if (place !== undefined && place !== null && place !== 'global')
    throw unsupportedMember(
      'inference_geo',
      'answers from a chosen place have prices of their own, which are not known here.',
    );
  if (fallbacks !== undefined && fallbacks !== null && !(Array.isArray(fallbacks) && fallbacks.length === 0))
    throw unsupportedMember(
      'fallbacks',
      'the provider would let another model answer, at prices that are not those of the model chosen here.',
    );
  const edits = objectsOf(asObject(body['context_management'])?.['edits']);
  const compaction = edits.findIndex(({ type }) => asText(type)?.startsWith('compact'));
  if (compaction >= 0) throw unsupportedMember(`context_management.edits[${compaction}].type`, COMPACTION);
  if ((body['compaction'] ?? null) !== null) throw unsupportedMember('compaction', COMPACTION);
  const advisor = objectsOf(body['tools']).findIndex(({ type }) => asText(type)?.startsWith('advisor_'));
  if (advisor >= 0)
    throw unsupportedMember(
      `tools[${advisor}].type`,
      'another model advises, at prices of its own, and its tokens are not among those that the answer counts.',
    );
  const { model, max_tokens: limit, stream, temperature, top_p: topP, top_k: topK } = body;
  const tier = body['service_tier'];
  const config = asObject(body['output_config']);
  const servers = objectsOf(body['mcp_servers']);
  const effort = config?.['effort'] ?? undefined;
  return present({
    model,
    messages: [...conversationOf(body).messages],
    max_completion_tokens: limit,
    stream: stream ?? undefined,
    stop: body['stop_sequences'] ?? undefined,
    temperature: temperature ?? undefined,
    top_p: topP ?? undefined,
    top_k: topK ?? undefined,
    ...toolMembers(body),
    reasoning: reasoning(asObject(body['thinking']), effort),
    output_config: effort === undefined ? undefined : { effort },
    response_format: responseFormat(config?.['format'] ?? body['output_format']),
    user: asText(asObject(body['metadata'])?.['user_id']) ?? undefined,
    service_tier: tier === 'standard_only' ? 'default' : (tier ?? undefined),
    cache_control: body['cache_control'] ?? undefined,
    // Only for what the prompt may count: the tools of these servers run at Anthropic, also where `tools` does not name them,
    // and the management leaves out parts of it.
    mcp_servers: servers.length > 0 ? servers : undefined,
    context_management: body['context_management'] ?? undefined,
  });
}

function toolMembers({ tools, tool_choice: given }: JsonObject): JsonObject {
  const choice = asObject(given);
  const list = objectsOf(tools).map(toolOf);
  return present({
    tools: list.length > 0 ? list : undefined,
    tool_choice: choice === null ? undefined : toolChoice(choice),
    parallel_tool_calls: choice?.['disable_parallel_tool_use'] === true ? false : undefined,
  });
}

/** Whether a tool runs at the caller; the others are Anthropic's own. */
export function isCustom({ type }: JsonObject): boolean {
  return type === undefined || type === null || type === 'custom';
}

/** Members that the function does not have stay beside it, as hints. */
function toolOf(tool: JsonObject): JsonObject {
  if (!isCustom(tool)) return tool;
  const { type: _type, name, description, input_schema: parameters, strict, ...hints } = tool;
  const definition = present({ name, description, parameters, strict });
  return { type: 'function', function: definition, ...hints };
}

function toolChoice({ type, name }: JsonObject): JsonValue {
  if (type === 'any') return 'required';
  return type === 'tool' ? { type: 'function', function: { name: name ?? '' } } : (type ?? 'auto');
}

function reasoning(thinking: JsonObject | null, effort: JsonValue | undefined): JsonObject | undefined {
  const { type, budget_tokens: budget, display } = thinking ?? {};
  const members = present({
    enabled: type === 'adaptive' ? true : type === 'disabled' ? false : undefined,
    max_tokens: type === 'enabled' ? budget : undefined,
    display: display ?? undefined,
    effort,
  });
  return Object.keys(members).length > 0 ? members : undefined;
}

function responseFormat(value: JsonValue | undefined): JsonObject | undefined {
  const schema = asObject(value)?.['schema'];
  if (schema === undefined) return undefined;
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
}
