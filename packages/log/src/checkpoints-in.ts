import { type JsonValue, parseTlogProof } from '@tallystick/core';

/**
 * The signed notes of a log in a text: a note, a tlog-proof, or JSON or JSON Lines with notes in it, such as receipts with
 * their anchors. Nothing is verified.
 */
export function checkpointsIn(text: string, origin: string): string[] {
  const found = new Set<string>();
  const begin = `${origin}\n`;
  const take = (value: string): void => {
    if (value.startsWith('c2sp.org/tlog-proof@')) take(parseTlogProof(value).checkpoint);
    else if (value.startsWith(begin)) found.add(value);
  };
  const walk = (value: JsonValue): void => {
    if (typeof value === 'string') take(value);
    else if (value !== null && typeof value === 'object') for (const one of Object.values(value)) walk(one);
  };
  for (const document of documentsOf(text)) walk(document);
  return [...found];
}

function documentsOf(text: string): JsonValue[] {
  const whole = jsonOf(text);
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const parsed = lines.map(jsonOf).filter((line) => line !== undefined);
  return lines.length > 0 && parsed.length === lines.length ? parsed : [text];
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
