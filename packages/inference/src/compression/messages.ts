import type { JsonObject, JsonValue } from '@tallystick/core';
import { objectsOf } from '../providers/members.ts';

/** Users' texts shorter than this, in UTF-16 units, are instructions: as in `compress`. */
const MIN_PASTE = 600;

/** The texts of a message that compression may change if no cache breakpoint forbids it. */
export function materialOf(message: JsonObject): string[] {
  const { role } = message;
  if (role !== 'tool' && role !== 'function' && role !== 'user') return [];
  const texts = contentsOf(message['content']);
  return role === 'user' ? texts.filter((text) => text.length >= MIN_PASTE) : texts;
}

export function contentsOf(content: JsonValue | undefined): string[] {
  if (typeof content === 'string') return [content];
  return objectsOf(content).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

/** UTF-16 units of all texts in the messages. */
export function lengthOf(messages: readonly JsonObject[]): number {
  return messages.reduce(
    (sum, { content }) => contentsOf(content).reduce((own, text) => own + text.length, sum),
    0,
  );
}

/** Number of messages that were sent in earlier calls: those before the last answer. */
export function sentBefore(messages: readonly JsonObject[]): number {
  return Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'assistant'),
  );
}
