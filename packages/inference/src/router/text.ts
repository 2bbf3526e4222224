import { isObject, type JsonValue } from '@tallystick/core';
import type { ChatBody } from '../types.ts';

/** The text of the last message of the user; empty where there is none. */
export function askedText(body: ChatBody): string {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const last = messages.findLast((message) => isObject(message) && message['role'] === 'user');
  return isObject(last) ? textOf(last['content']) : '';
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n');
}
