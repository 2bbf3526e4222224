import type { JsonObject } from '@tallystick/core';
import { asObject } from './members.ts';

/** Servers that know the limit of the output by its older name alone: Mistral refuses the newer one, DeepSeek passes over it. */
const OLDER_LIMIT = /(^|\.)(mistral\.ai|deepseek\.com)$/;
/** Servers that tell the usage of every stream, and refuse to be asked for it. */
const TELLS_USAGE = /(^|\.)mistral\.ai$/;

/**
 * The body of a chat call in the words of the server at a base URL. The usage of a stream is asked for where it does not
 * come by itself.
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
