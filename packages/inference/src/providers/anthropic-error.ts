import type { JsonObject, JsonValue } from '@tallystick/core';
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

/** Converts `{type: "error", error: {type, message}}`; adds OpenAI's code where clients act on it. */
export function errorOf(body: JsonObject | null): JsonObject | null {
  const error = asObject(body?.['error']);
  if (error === null) return null;
  const message = asText(error['message']) ?? '';
  const tooLong = /prompt is too long|context (limit|window)/i.test(message);
  return { ...error, ...(tooLong && { code: 'context_length_exceeded' }) };
}

/**
 * The error, with an empty `param` if what is not there need not be the model. The API does not say what it is: all have the
 * type `not_found_error`, and a message in free words. So it is told by the request, of which only the model is looked up, unless
 * it names what is stored in the account.
 * @param request JSON of a Messages request
 */
export function blamedFor(request: string, error: JsonObject | null): JsonObject | null {
  const { container, messages } = JSON.parse(request) as JsonObject;
  return asText(container) !== null || asObject(container) !== null || holdsFile(messages)
    ? { ...error, param: '' }
    : error;
}

/** Whether a file of the account is named, in a block of content or in the result of a tool. The input of a tool is free JSON. */
function holdsFile(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(holdsFile);
  return Object.entries(asObject(value) ?? {}).some(
    ([name, inner]) => name === 'file_id' || (name !== 'input' && holdsFile(inner)),
  );
}

/** The error that an event tells, with the HTTP status that it would have had; null for another event. */
export function errorIn(event: JsonObject): JsonObject | null {
  if (event['type'] !== 'error') return null;
  const error = errorOf(event);
  return { ...error, status: statuses[asText(error?.['type']) ?? ''] ?? 500 };
}
