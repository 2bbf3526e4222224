import type { JsonValue } from '@tallystick/core';
import { asText, objectsOf } from '../providers/members.ts';

/** The text of a message's or a delta's content, which some providers give in parts. */
export function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map(({ text }) => asText(text) ?? '')
    .join('');
}
