import { type ChatMessage, compress, type Tier } from '@tallystick/compress';
import { compressByBm25 } from '../packages/compress/test/quality/bm25.ts';
import { forms, publishedForms } from './compress-peers.ts';
import { median } from './machine.ts';
import type { Report, Row } from './report.ts';
import { unlessMissing } from './unless-missing.ts';

const ROUNDS = 41;
const WARM_UP = 80;
const SIZES = [10_000, 100_000, 1_000_000];

/** Measures the time to compress a conversation, counting included, on texts that no earlier round has seen. */
export async function compression(): Promise<Report> {
  const rows: Row[] = [];
  for (const [kind, write] of Object.entries(writers)) {
    process.stderr.write(`${kind} …\n`);
    for (const tier of ['lossless', 'extractive', 'bm25'] as const) rows.push(row(kind, write, tier));
  }
  process.stderr.write('growth …\n');
  for (const tier of ['lossless', 'extractive'] as const) rows.push(...growth(tier));
  const random = generator(1);
  const { found: published, missing } = unlessMissing(publishedForms);
  rows.push(
    ...published,
    ...forms({
      'uniform JSON': JSON.parse(table(random)) as unknown,
      'nested JSON': JSON.parse(nested(random)) as unknown,
    }),
  );
  return {
    title: 'Compression: what it takes, token counting included',
    method: `p50 of ${ROUNDS} rounds after ${WARM_UP} to warm up, one thread; each round compresses a text of its own, so that no count is remembered; scaled to 10,000 tokens as counted. Quoted from their own reports, not measured here: LLMLingua-2 2 to 5 times fewer tokens, Headroom 10,144 tokens of a log in 1,260.`,
    rows,
    missing,
  };
}

/** A tier, or the baseline. */
type Way = Tier | 'bm25';

const aims: Readonly<Record<Way, number | undefined>> = { lossless: 5, extractive: 8, bm25: undefined };

function row(kind: string, write: Writer, tier: Way): Row {
  const value = timed(write, tier, 10_000, ROUNDS);
  const aim = aims[tier];
  return {
    name: `${tier}, 10,000 tokens of ${kind}`,
    value,
    unit: 'ms',
    ...(aim === undefined ? {} : { aim: { at_most: aim } }),
  };
}

/** Rows with the cost of a token at each size, relative to that at the smallest. */
function growth(tier: Tier): Row[] {
  const costs = SIZES.map((tokens) => timed(mixed, tier, tokens, tokens > 500_000 ? 5 : 11));
  return SIZES.map((tokens, i) => ({
    name: `${tier}, ${tokens.toLocaleString('en')} tokens, mixed: for each 10,000`,
    value: costs[i] ?? Number.NaN,
    unit: 'ms',
  }));
}

/** Milliseconds per 10,000 tokens: the median over rounds. */
function timed(write: Writer, tier: Way, tokens: number, rounds: number): number {
  const times: number[] = [];
  const query = 'Which order failed at the Lisbon gate in March?';
  for (let round = tokens > 10_000 ? 0 : -WARM_UP; round < rounds; round++) {
    const messages = conversation(write, tokens, round + 1000);
    const start = performance.now();
    const { account } =
      tier === 'bm25' ? compressByBm25(messages, { query }) : compress(messages, { tier, query });
    const took = performance.now() - start;
    if (round >= 0) times.push((took * 10_000) / account.tokens_before);
  }
  return median(times);
}

type Writer = (random: () => number) => string;

/** A conversation of tool results of about 4,000 characters, as an agent collects them. */
function conversation(write: Writer, tokens: number, seed: number): ChatMessage[] {
  const random = generator(seed);
  const messages: ChatMessage[] = [{ role: 'system', content: 'You answer from the tool results.' }];
  for (let characters = 0; characters < tokens * 3.3; ) {
    const content = write(random);
    characters += content.length;
    messages.push({ role: 'tool', tool_call_id: `call_${messages.length}`, content });
  }
  return [...messages, { role: 'user', content: 'Which order failed at the Lisbon gate in March?' }];
}

/** Mulberry32: the same texts in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const words =
  'order gate pallet robot customer delayed shipped arrived Lisbon Berlin Osaka inspection failed repaired invoice March week the a of to and after before with was were has not because during'.split(
    ' ',
  );
const pick = <T>(random: () => number, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)] as T;
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const number = (random: () => number): number => Math.floor(random() * 100_000);
const sentence = (random: () => number): string =>
  `${pick(random, ['Yesterday', 'Then', 'In the morning', 'Later'])} ${many(6 + Math.floor(random() * 12), () => (random() < 0.1 ? `${pick(random, words)}-${number(random)}` : pick(random, words))).join(' ')}.`;

const prose: Writer = (random) => many(6, () => many(5, () => sentence(random)).join(' ')).join('\n\n');
const dialogue: Writer = (random) =>
  many(40, (i) => `${i % 2 === 0 ? 'Ana' : 'Ben'}: ${sentence(random)}`).join('\n');
const logs: Writer = (random) =>
  many(
    50,
    (i) =>
      `2026-03-01T10:${String(i).padStart(2, '0')}:07Z ${pick(random, ['INFO', 'INFO', 'INFO', 'WARN', 'ERROR'])} gate ${pick(random, words)} order=${number(random)} took ${number(random)} ms`,
  ).join('\n');
const table: Writer = (random) =>
  JSON.stringify(
    many(20, () => ({
      id: number(random),
      order: `ORD-${number(random)}`,
      city: pick(random, words),
      at: `2026-03-01T10:${10 + Math.floor(random() * 49)}:00Z`,
      note: sentence(random),
      open: random() < 0.5,
    })),
    null,
    2,
  );
const nested: Writer = (random) =>
  JSON.stringify(
    {
      total: 12,
      items: many(12, () => ({
        id: number(random),
        parts: many(3, () => ({ n: number(random), tag: pick(random, words) })),
        note: sentence(random),
      })),
    },
    null,
    2,
  );

const writers: Readonly<Record<string, Writer>> = {
  prose,
  dialogue,
  logs,
  'uniform JSON': table,
  'nested JSON': nested,
};

const mixed: Writer = (random) => pick(random, Object.values(writers))(random);
