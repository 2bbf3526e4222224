import type { JsonObject } from '@tallystick/core';
import { asObject, asText } from './members.ts';

/** The HTTP status that an error event in a stream would have had. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/**
 * Converts `{type: "error", error: {type, message}}`; adds OpenAI's code where clients act on it, and an empty `param` where
 * something else than the model, such as a file, is not there.
 */
export function errorOf(body: JsonObject | null): JsonObject | null {
  const error = asObject(body?.['error']);
  if (error === null) return null;
  const message = asText(error['message']) ?? '';
  const tooLong = /prompt is too long|context (limit|window)/i.test(message);
  const isOther = error['type'] === 'not_found_error' && message !== '' && !/\bmodel\b/i.test(message);
  return { ...error, ...(tooLong && { code: 'context_length_exceeded' }), ...(isOther && { param: '' }) };
}

/** The error that an event tells, with the HTTP status that it would have had; null for another event. */
export function errorIn(event: JsonObject): JsonObject | null {
  if (event['type'] !== 'error') return null;
  const error = errorOf(event);
  return { ...error, status: statuses[asText(error?.['type']) ?? ''] ?? 500 };
}
