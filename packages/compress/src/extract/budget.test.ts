import { expect, test } from 'vitest';
import { compress } from '../compress.ts';

const places = ['the northern reading room', 'the western reading room', 'the archive below the hall'];
const loans = Array.from({ length: 120 }, (_, i) => ({
  id: `loan-${i}`,
  date: `2025-0${1 + (i % 3)}-1${i % 4}`,
  place: places[i % 3],
  note: `Volume ${i * 37} was lent to reader ${i * 11} until they return the catalogue card ${i * 5}.`,
}));
const messages = [
  { role: 'tool', tool_call_id: 'call_1', content: JSON.stringify(loans) },
  { role: 'user', content: 'Who has volume 2220?' },
];

test.each([0.5, 0.4, 0.25, 0.1])(
  'JSON whose repeated texts are written out to be cut keeps to %s',
  (budget) => {
    const { account, blocks } = compress(messages, { tier: 'extractive', budget });
    expect(account.tokens_after).toBeLessThanOrEqual(Math.floor(account.tokens_before * budget));
    expect(blocks[0]?.text).toMatch(/\b2220\b/);
  },
);

test('a long object is cut between its members', () => {
  const types = Object.fromEntries(
    Array.from({ length: 90 }, (_, i) => [`application/kind-${i}`, ['registry', 'part', `k${i}`]]),
  );
  const { account, blocks } = compress(
    [
      { role: 'tool', tool_call_id: 'call_1', content: JSON.stringify(types) },
      { role: 'user', content: 'What is application/kind-61?' },
    ],
    { tier: 'extractive', budget: 0.25 },
  );
  expect(account.tokens_after).toBeLessThanOrEqual(Math.floor(account.tokens_before * 0.25));
  expect(blocks[0]?.text).toContain('"application/kind-61":["registry","part","k61"]');
});

test('of a function that does not fit, the beginning is kept before functions that are not asked for', () => {
  const functionOf = (name: string, steps: number): string =>
    `function ${name}(header) {\n${Array.from({ length: steps }, (_, i) => `  const part${i} = header.slice(${i}, length - ${i});\n  parts.push(part${i});\n`).join('\n')}}\n`;
  const content = ['open', 'readCookie', 'close'].map((name) => functionOf(name, 30)).join('\n');
  const { account, blocks } = compress(
    [
      { role: 'tool', tool_call_id: 'call_1', content },
      { role: 'user', content: 'How is readCookie declared?' },
    ],
    { tier: 'extractive', budget: 0.1, code: true },
  );
  expect(account.tokens_after).toBeLessThanOrEqual(Math.floor(account.tokens_before * 0.1));
  expect(blocks[0]?.text).toContain('function readCookie(header) {');
});

test('JSON of which a small budget could not keep how to read its tables keeps the row that is asked for', () => {
  const content = Array.from({ length: 150 }, (_, i) =>
    JSON.stringify({
      item: `bucket ${i * 7}`,
      warehouse: `hall ${i % 9}`,
      quantity: i * 13,
      price: `${i}.${i % 10}0`,
      restocked: `2026-0${1 + (i % 9)}-11`,
    }),
  ).join('\n');
  const { account, blocks } = compress(
    [
      { role: 'tool', tool_call_id: 'call_1', content },
      { role: 'user', content: 'How many of bucket 693 are there?' },
    ],
    { tier: 'extractive', budget: 95 },
  );
  expect(account.tokens_after).toBeLessThanOrEqual(95);
  expect(blocks[0]?.text).toContain('bucket 693\thall 0\t1287');
});
