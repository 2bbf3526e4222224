import type { JsonObject } from '@tallystick/core';
import { asObject } from './members.ts';

/** Servers that know the limit of the output by its older name alone: Mistral refuses the newer one, DeepSeek passes over it. */
const OLDER_LIMIT = /(^|\.)(mistral\.ai|deepseek\.com)$/;
/** Servers that tell the usage of every stream, and refuse to be asked for it. */
const TELLS_USAGE = /(^|\.)mistral\.ai$/;

/**
 * Returns the body of a chat call with the names of members that the server at a base URL knows. It asks for the usage of a
 * stream, unless the server sends it unasked.
 */
export function inWordsOf(baseUrl: string, body: JsonObject): JsonObject {
  const { hostname } = new URL(baseUrl);
  const { max_completion_tokens: limit = null, ...others } = body;
  const older = OLDER_LIMIT.test(hostname) && limit !== null;
  const limited = older ? { ...others, max_tokens: limit } : body;
  if (body['stream'] !== true) return limited;
  const { stream_options: options = null, ...rest } = limited;
  if (TELLS_USAGE.test(hostname)) return rest;
  return { ...rest, stream_options: { ...asObject(options), include_usage: true } };
}
