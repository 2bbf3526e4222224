import {
  type ChatMessage,
  type CompressOptions,
  compress,
  type Tokenizer,
  tokenizerFor,
} from '../../src/index.ts';
import { compressByBm25 } from './bm25.ts';
import { decoded } from './decoded.ts';
import { outsideBm25 } from './outside.ts';
import { generator } from './random.ts';
import type { Case } from './sets.ts';

/** What is measured: the package's tier, the baseline with the package's protections, and the baseline as others write it. */
export const subjects = ['extractive', 'bm25', 'outside'] as const;
export type Subject = (typeof subjects)[number];

export interface Outcome {
  readonly set: string;
  readonly fact: string;
  readonly subject: Subject;
  /** Whether all that answers the question is kept, to the character. */
  readonly kept: boolean;
  /** The part of the budget that was used. */
  readonly used: number;
}

const tokenizer = tokenizerFor();

export function outcomesOf(cases: readonly Case[], of: readonly Subject[], budget: number): Outcome[] {
  return cases.flatMap((one) => of.map((subject) => outcome(one, subject, budget)));
}

function outcome(
  { set, fact, messages, query, gold, near = [] }: Case,
  subject: Subject,
  budget: number,
): Outcome {
  const whole = messages.map(({ content }) => content as string);
  const before = whole.reduce((sum, text) => sum + tokenizer.count(text), 0);
  const allowed = Math.floor(before * budget);
  const { sent, said } = resultOf(subject, messages, { budget, query, tokenizer }, allowed);
  const used = sent.reduce((sum, text) => sum + tokenizer.count(text), 0) / allowed;
  const left = [...sent, ...said];
  const kept = gold.every((text) => left.some((one) => one.includes(text)));
  return { set, fact, subject, kept: kept && left.some((one) => hasRow(one, gold[0] ?? '', near)), used };
}

/** The texts that are sent, and what they say without holding it word for word. */
function resultOf(
  subject: Subject,
  messages: readonly ChatMessage[],
  options: CompressOptions & { readonly query: string; readonly tokenizer: Tokenizer },
  allowed: number,
): { sent: string[]; said: string[] } {
  const { query, tokenizer } = options;
  if (subject === 'outside') {
    const room = allowed - tokenizer.count(query);
    return { sent: [outsideBm25(messages[0]?.content as string, query, room, tokenizer), query], said: [] };
  }
  const { messages: out, blocks } =
    subject === 'bm25'
      ? compressByBm25(messages, options)
      : compress(messages, { ...options, tier: 'extractive' });
  return { sent: out.map(({ content }) => content as string), said: decoded(blocks) };
}

/** The longest row, in UTF-16 units. */
const ROW = 400;

function hasRow(text: string, first: string, near: readonly string[]): boolean {
  const at = text.indexOf(first);
  return near.length === 0 || (at >= 0 && near.every((cell) => text.slice(at, at + ROW).includes(cell)));
}

export function shareKept(outcomes: readonly Outcome[]): number {
  return outcomes.filter(({ kept }) => kept).length / outcomes.length;
}

const DRAWS = 1000;

/** How much more `a` keeps than `b`, with the interval of that at 95%: paired by fact, resampled by fact. */
export function interval(a: readonly Outcome[], b: readonly Outcome[]): [number, number, number] {
  const others = Map.groupBy(b, ({ fact }) => fact);
  const differences = [...Map.groupBy(a, ({ fact }) => fact)].map(
    ([fact, own]) => shareKept(own) - shareKept(others.get(fact) ?? []),
  );
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const random = generator(7);
  const draws = Array.from({ length: DRAWS }, () =>
    mean(differences.map(() => differences[Math.floor(random() * differences.length)] ?? 0)),
  ).sort((x, y) => x - y);
  return [mean(differences), draws[DRAWS * 0.025] ?? 0, draws[DRAWS * 0.975] ?? 0];
}
