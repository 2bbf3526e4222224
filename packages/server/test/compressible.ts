import type { JsonObject } from '@tallystick/core';

/** Rows of a table as a tool answers them. */
export function rows(count: number, from = 0): JsonObject[] {
  return Array.from({ length: count }, (_, i) => ({
    id: from + i,
    name: `container-${from + i}`,
    status: (from + i) % 7 === 0 ? 'degraded' : 'running',
    restarts: ((from + i) * 13) % 5,
    image: `registry.example/app:${1000 + from + i}`,
  }));
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A log in which one line matters, and no line comes twice. */
export function incident(lines: number, secret: string): string {
  return Array.from({ length: lines }, (_, i) => {
    const time = `2026-03-01T10:${String(Math.floor(i / 60) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}Z`;
    return i === Math.floor(lines * 0.7)
      ? `${time} INFO billing: the maintenance code is ${secret}`
      : `${time} INFO worker-${i % 9}: handled request ${i * 7919} in ${(i * 37) % 400} ms`;
  }).join('\n');
}

export function toolTurn(id: string, content: string): JsonObject[] {
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content },
  ];
}

/** What a tool that is called so looks like to a provider. */
export const LOOK: JsonObject = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: {} } },
};

/** The text of a message. */
export function saidIn(message: JsonObject | undefined): string {
  const content = message?.['content'];
  return typeof content === 'string' ? content : '';
}
