import type { JsonObject } from '@tallystick/core';
import { asObject, objectsOf } from '../../providers/members.ts';
import { readUsage } from '../../providers/usage.ts';
import type { Given } from '../protocol.ts';
import { ResponseEncoder } from './stream.ts';

/** A `chat.completion` as a `response` object: what the stream of the same answer ends with. */
export function answerOf(inner: JsonObject, given: Given): JsonObject {
  const encoder = new ResponseEncoder(given);
  const choices = objectsOf(inner['choices']).map(({ message, ...choice }) => ({
    ...choice,
    delta: message ?? {},
  }));
  encoder.take({ choices });
  const usage = readUsage(inner);
  const events = encoder.end(usage === 'malformed' ? null : usage);
  return asObject(events.at(-1)?.data['response']) ?? {};
}
