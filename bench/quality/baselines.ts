import type { ChatMessage, Tokenizer } from '@tallystick/compress';
import { Random } from './random.ts';

/** Lines from tools and users, which may be cut, with their token counts. */
export interface Material {
  readonly lines: readonly string[];
  readonly counts: readonly number[];
  readonly tokens: number;
}

const DRAWS = 3;

/** The material of messages. The tokens of a document outside these lines are never cut. */
export function materialOf(messages: readonly ChatMessage[], tokenizer: Tokenizer): Material {
  const lines = messages.flatMap(({ role, content }) => {
    const material = role === 'tool' || role === 'user';
    return material && typeof content === 'string' ? linesOf(content) : [];
  });
  const counts = lines.map((line) => tokenizer.count(line));
  return { lines, counts, tokens: counts.reduce((sum, count) => sum + count, 0) };
}

/**
 * Two ways to fit a budget that ignore the question: `tail` keeps the last lines, `random` draws lines, three
 * times. Both keep whole lines and write no mark.
 * @param room number of tokens for the lines
 */
export function keptLines(
  tier: 'tail' | 'random',
  { lines, counts }: Material,
  room: number,
  seed: string,
): { text: string; tokens: number }[] {
  const orders = tier === 'tail' ? [lines.map((_, i) => lines.length - 1 - i)] : drawn(lines.length, seed);
  return orders.map((order) => {
    const chosen = new Uint8Array(lines.length);
    let tokens = 0;
    for (const i of order) {
      const cost = counts[i] ?? 0;
      if (tokens + cost > room && tier === 'tail') break;
      if (tokens + cost > room) continue;
      chosen[i] = 1;
      tokens += cost;
    }
    return { text: lines.filter((_, i) => chosen[i] === 1).join(''), tokens };
  });
}

function drawn(count: number, seed: string): number[][] {
  const random = new Random(seed);
  const all = Array.from({ length: count }, (_, i) => i);
  return Array.from({ length: DRAWS }, () => random.shuffled(all));
}

/** Lines with their line ends; a long paragraph is cut into sentences. */
function linesOf(text: string): string[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return lines.flatMap((line) =>
    line.length > 400 ? (line.match(/.*?[.!?]['”»)]*\s+(?=\p{Lu})|.+$\n?/gsu) ?? [line]) : [line],
  );
}
