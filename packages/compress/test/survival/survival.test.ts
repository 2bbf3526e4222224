import { describe, expect, test } from 'vitest';
import { compress } from '../../src/index.ts';
import { generator, many, pick } from '../quality/random.ts';
import { BUDGETS, losses, materialLeft } from './losses.ts';
import { type MaterialKind, writers } from './material.ts';

/** Prompts that are generated: 2,000 where there is time for them. */
const PROMPTS = Number(process.env['TALLY_COMPRESS_PROMPTS'] ?? 300);

test('of prompts with instructions, tool definitions and material, none loses what must survive at any budget', () => {
  expect(losses(PROMPTS)).toStrictEqual({});
});

/** Tokens of the longest unit that is not cut further: a row or a sentence of 160 UTF-16 units. */
const LONGEST_UNIT = 60;

describe.each(Object.keys(writers) as MaterialKind[])('of %s', (kind) => {
  test.each(BUDGETS)(
    'the line that is asked for stays, and %s of the tokens are used to nine tenths',
    (budget) => {
      for (const seed of [1, 2]) {
        const { kept, used, free } = materialLeft(kind, budget, seed);
        expect(kept).toBe(true);
        expect(used).toBeLessThanOrEqual(1);
        // The exception: no unit that was left out fits into what is free of a budget of some hundred tokens.
        expect(used >= 0.9 || (budget === 0.1 && free < LONGEST_UNIT)).toBe(true);
      }
    },
  );
});

test('rows that do not fit into a budget are split', () => {
  const random = generator(7);
  const words = 'harbour ledger beacon orchard kettle lantern meadow anvil copper'.split(' ');
  const cells = (at: number): string[] =>
    many(12, (i) => `cell ${at}-${i} ${pick(random, words)} ${pick(random, words)}`);
  const rows = many(6, cells);
  const names = rows[0]!.map((_, i) => `column${i}`);
  const records = rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]!])));
  for (const content of [
    [names, ...rows].map((row) => row.join('\t')).join('\n'),
    JSON.stringify(records),
    records.map((record) => JSON.stringify(record)).join('\n'),
  ]) {
    const { account, messages } = compress(
      [
        { role: 'tool', tool_call_id: 'call_1', content },
        { role: 'user', content: 'What is cell 3-11?' },
      ],
      { tier: 'extractive', budget: 0.35 },
    );
    const allowed = Math.floor(account.tokens_before * 0.35);
    expect(account.tokens_after).toBeLessThanOrEqual(allowed);
    expect(account.tokens_after).toBeGreaterThanOrEqual(allowed * 0.9);
    expect(messages[0]?.content).toContain('cell 3-11');
  }
});
