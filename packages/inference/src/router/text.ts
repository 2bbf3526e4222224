import { isObject, type JsonValue } from '@tallystick/core';
import type { ChatBody } from '../types.ts';

/** A shorter message, such as "go on", does not say by itself what is asked. */
const SHORT = 20;

/**
 * The text of the last message of the user, after the one before where the last is short; empty where there is none.
 */
export function askedText(body: ChatBody): string {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const texts = messages.flatMap((message) =>
    isObject(message) && message['role'] === 'user' ? [message['content']] : [],
  );
  const last = textOf(texts.at(-1));
  return last.length < SHORT && texts.length > 1 ? `${textOf(texts.at(-2))}\n${last}` : last;
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n');
}
