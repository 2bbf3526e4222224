import { sha256Hex, utf8 } from '@tallystick/core';
import { type ChatMessage, compress, type Tier, tokenizerFor } from '../src/index.ts';
import { generator, many, pick, type Random } from './quality/random.ts';

const names = ['Ana', 'Ben', 'Chiara', 'Dov'];
const nouns = 'gate order pallet robot invoice ferry garden violin passport biscuit Lisbon Osaka'.split(' ');
const verbs = 'opened delayed repaired sold lost found painted measured'.split(' ');
const awkward = [
  '👩‍👩‍👧‍👦',
  '🇩🇪🇫🇷',
  'שלום עולם',
  '日本語の文。',
  'e\u0301',
  '\ud800',
  '[…]',
  '…',
  '1E400',
  '-0',
];

function sentence(random: Random): string {
  const strange = random() < 0.1 ? ` ${pick(random, awkward)}` : '';
  const day = random() < 0.3 ? ` on ${1 + Math.floor(random() * 28)} March` : '';
  return `The ${pick(random, nouns)} was ${pick(random, verbs)}${day} by ${pick(random, names)}, number ${Math.floor(random() * 1e6)}${strange}.`;
}

const writers: Readonly<Record<string, (random: Random) => string>> = {
  prose: (random) => many(12, () => many(4, () => sentence(random)).join(' ')).join('\n\n'),
  dialogue: (random) => many(60, () => `${pick(random, names)}: ${sentence(random)}`).join('\n'),
  log: (random) =>
    many(
      80,
      (i) =>
        `2026-03-01T10:${10 + (i % 50)}:07Z ${pick(random, ['INFO', 'INFO', 'WARN', 'ERROR'])} ${sentence(random)}`,
    ).join('\n'),
  rows: (random) =>
    JSON.stringify(
      many(30, (id) => ({ id, who: pick(random, names), note: sentence(random), at: random() * 1e9 })),
      null,
      2,
    ),
  nested: (random) =>
    JSON.stringify({
      total: 20,
      items: many(20, (id) => ({
        id,
        tags: many(id % 4, () => pick(random, nouns)),
        note: sentence(random),
      })),
    }),
  text: (random) => JSON.stringify({ page: many(40, () => sentence(random)).join('\n') }),
};

const ask = { role: 'user', content: 'Who repaired the robot, and on which day in March?' };

/** SHA-256 of the results by tier and kind of text: the same in every engine and process. */
export function digests(): Record<string, string> {
  const found: Record<string, string> = {};
  const tokenizer = tokenizerFor();
  for (const tier of ['lossless', 'extractive'] satisfies Tier[]) {
    for (const [kind, write] of Object.entries(writers)) {
      const outputs = many(8, (seed) => {
        const random = generator(seed + 1);
        const messages: ChatMessage[] = [{ role: 'tool', content: write(random) }, ask];
        return compress(messages, { tier, budget: 0.1 + seed / 20, tokenizer }).messages;
      });
      found[`${tier} ${kind}`] = sha256Hex(utf8(JSON.stringify(outputs)));
    }
  }
  return found;
}
