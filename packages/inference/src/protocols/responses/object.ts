import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, objectsOf, present } from '../../providers/members.ts';
import type { Usage } from '../../types.ts';
import type { Given } from '../protocol.ts';

/** What changes in a response object while it is made. */
export interface Progress {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly JsonObject[];
  readonly usage?: Usage | null;
  readonly error?: JsonObject;
  /** Why the answer is incomplete. */
  readonly reason?: 'max_output_tokens' | 'content_filter';
}

/**
 * The `response` object with every member that OpenAI's API gives it. What the request leaves out stands as the API's
 * default, or null where only the provider knows it.
 */
export function responseObject({ request, id, model, created }: Given, progress: Progress): JsonObject {
  const { status, output, usage = null, error = null, reason } = progress;
  const asked = (name: string): JsonValue => request[name] ?? null;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: created,
    status,
    background: false,
    error,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: asked('instructions'),
    max_output_tokens: asked('max_output_tokens'),
    max_tool_calls: asked('max_tool_calls'),
    model,
    output: [...output],
    parallel_tool_calls: request['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    prompt_cache_key: asked('prompt_cache_key'),
    prompt_cache_retention: asked('prompt_cache_retention'),
    reasoning: { effort: null, summary: null, ...asObject(request['reasoning']) },
    safety_identifier: asked('safety_identifier'),
    service_tier: 'default',
    store: false,
    temperature: asked('temperature'),
    text: { ...asObject(request['text']), format: asObject(request['text'])?.['format'] ?? { type: 'text' } },
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: objectsOf(request['tools']).map(toolOf),
    top_logprobs: request['top_logprobs'] ?? 0,
    top_p: asked('top_p'),
    truncation: 'disabled',
    usage: usage === null ? null : usageOf(usage),
    ...present({ user: request['user'] ?? undefined }),
    metadata: request['metadata'] ?? {},
    access_programs: null,
  };
}

function toolOf(tool: JsonObject): JsonObject {
  return tool['type'] === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool;
}

function usageOf(usage: Usage): JsonObject {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens = 0, hidden } = usage;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: typeof hidden === 'number' ? hidden : 0 },
    total_tokens: promptTokens + completionTokens,
  };
}
