import { expect, test } from 'vitest';
import type { CallDetail } from './documents.ts';
import { momentsOf, ticksOf } from './moments.ts';

const CALL = {
  model: 'openai/b',
  stream: true,
  total_ms: 900,
  first_byte_ms: 400,
  timeline: [
    { step: 'compress', at_ms: 0, ms: 5 },
    { step: 'route', at_ms: 0, ms: 8 },
    { step: 'reserve', at_ms: 8, ms: 2 },
    { step: 'tries', at_ms: 10, ms: 380 },
    { step: 'first_byte', at_ms: 400, ms: 0 },
    { step: 'settle', at_ms: 890, ms: 10 },
  ],
  tries: [{ model: 'openai/a', kind: 'overloaded', status: 503, at_ms: 10, ms: 90 }],
  answered: { model: 'openai/b', provider: 'openai', at_ms: 150, ms: 240 },
  compression: { tokens_before: 7_215, tokens_after: 2_158 },
  routing: null,
} as unknown as CallDetail;

test('the bars follow each other, each once, up to the end of the call', () => {
  const { bars, firstByte, total } = momentsOf(CALL);
  expect(bars.map(({ title, at, ms, state }) => [title, at, at + ms, state])).toEqual([
    ['Compress', 0, 5, 'own'],
    ['Choose a model', 5, 8, 'own'],
    ['Reserve the money', 8, 10, 'own'],
    ['Try 1', 10, 100, 'fail'],
    ['Try 2', 150, 390, 'provider'],
    ['Answer', 390, 890, 'provider'],
    ['Settle', 890, 900, 'own'],
  ]);
  expect(bars[0]?.about).toBe('5,057 of 7,215 tokens cut');
  expect(bars[3]?.about).toBe('openai/a: the provider is overloaded (503)');
  expect([firstByte, total]).toEqual([400, 900]);
});

test('a row from before tries were timed shows them as one bar', () => {
  const { answered: _, ...rest } = CALL;
  const bare = { ...rest, tries: [{ model: 'openai/a', kind: 'overloaded', status: 503 }] } as CallDetail;
  expect(momentsOf(bare).bars.map(({ title }) => title)).toContain('Provider');
});

test.each([
  [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [900, [0, 200, 400, 600, 800]],
  [4_100, [0, 1_000, 2_000, 3_000, 4_000]],
])('a scale up to %d ms', (total, ticks) => {
  expect(ticksOf(total).map((tick) => Math.round(tick * 10) / 10)).toEqual(ticks);
});
