import { isObject } from '@tallystick/core';

/** A part of a prompt that can be read: who says it, and what. */
export interface Said {
  readonly role: string;
  readonly text: string;
}

/** The prompt in the body of a request, of any protocol that the service speaks. */
export function promptIn(body: unknown): Said[] {
  if (!isObject(body as never)) return [];
  const { system, instructions, messages, input, prompt } = body as Record<string, unknown>;
  return [
    ...saidBy('system', system),
    ...saidBy('system', instructions),
    ...turnsOf(messages),
    ...turnsOf(input),
    ...turnsOf(prompt),
  ];
}

function saidBy(role: string, content: unknown): Said[] {
  const text = textOf(content);
  return text === '' ? [] : [{ role, text }];
}

/** Messages; a text, or a list of texts, is the user's. */
function turnsOf(list: unknown): Said[] {
  if (!Array.isArray(list)) return saidBy('user', list);
  return list.flatMap((turn: unknown) => {
    if (!isObject(turn as never)) return saidBy('user', turn);
    const { role, content, type, ...rest } = turn as Record<string, unknown>;
    const who = typeof role === 'string' ? role : typeof type === 'string' ? type : 'user';
    const more = Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2);
    return saidBy(who, [textOf(content), more].filter((text) => text !== '').join('\n'));
  });
}

/** A content as text. What is no text stands there as JSON, without the bytes of images and files. */
function textOf(content: unknown): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join('\n');
  if (typeof content === 'object') {
    const { text, content: inner } = content as Record<string, unknown>;
    if (typeof text === 'string') return text;
    if (inner !== undefined) return textOf(inner);
  }
  return JSON.stringify(content, (_, value: unknown) => {
    return typeof value === 'string' && /^data:|^[A-Za-z0-9+/=]{400}/.test(value)
      ? `${value.slice(0, 40)}…`
      : value;
  });
}

/** Pairs what was asked with what was sent: message by message, or as a whole where their numbers differ. */
export function pairsOf(asked: readonly Said[], sent: readonly Said[]): (readonly [Said, Said])[] {
  const isAligned = asked.length === sent.length && asked.every(({ role }, at) => role === sent[at]?.role);
  if (isAligned) return asked.map((one, at) => [one, sent[at] ?? one]);
  return [[wholeOf(asked), wholeOf(sent)]];
}

function wholeOf(said: readonly Said[]): Said {
  return { role: 'all', text: said.map(({ role, text }) => `${role}:\n${text}`).join('\n\n') };
}
