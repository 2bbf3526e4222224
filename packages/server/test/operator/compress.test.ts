import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
const rows = Array.from({ length: 30 }, (_, id) => ({ id, city: `City ${id}`, open: id % 2 === 0 }));

beforeAll(() => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'tool', tool_call_id: 'call_1', content: JSON.stringify(rows, null, 2) },
    { role: 'user', content: 'Is City 7 open?' },
  ];
  writeFileSync(at('request.json'), JSON.stringify({ model: 'gpt-4o', messages }));
  writeFileSync(at('rows.json'), JSON.stringify(rows, null, 2));
  const turns = Array.from({ length: 200 }, (_, i) => `Ana: remark ${i} is about subject number ${i * 3}.`);
  writeFileSync(at('chat.txt'), turns.join('\n'));
  writeFileSync(at('latin1.txt'), Uint8Array.of(0x22, 0xff, 0x22));
});
afterAll(remove);

test('a request comes out as a request, its other members untouched', async () => {
  const { code, stdout, stderr } = await tally(['compress', at('request.json')]);
  const { model, messages } = JSON.parse(stdout) as { model: string; messages: { content: string }[] };
  expect({ code, model, system: messages[0]!.content }).toEqual({
    code: 0,
    model: 'gpt-4o',
    system: 'Be brief.',
  });
  expect(messages[1]!.content).toMatch(
    /^JSON with tables and few quotes: .*\n<table1>\n<table1>, 30 rows of \{id:<id> city:"City <id>" open:<>\}\n0\ttrue\n/,
  );
  expect(stderr).toMatch(/\d+ tokens before, \d+ after \(o200k_base\)\./);
});

test('JSON without messages is a tool’s result', async () => {
  const { stdout } = await tally(['compress', at('rows.json'), '--json']);
  const { account, messages } = JSON.parse(stdout) as {
    account: { tokens_before: number; tokens_after: number };
    messages: { role: string }[];
  };
  expect(messages.map(({ role }) => role)).toEqual(['tool']);
  expect(account.tokens_after).toBeLessThan(account.tokens_before * 0.6);
});

test('--explain shows a coloured diff and what each method saved', async () => {
  const args = [
    'compress',
    at('chat.txt'),
    '--tier',
    'extractive',
    '--budget',
    '0.2',
    '--query',
    'remark 123',
    '--explain',
  ];
  const { code, stdout } = await tally(args, { env: { FORCE_COLOR: '1' } });
  expect(code).toBe(0);
  expect(stdout).toContain('\u001b[31m- Ana: remark 1 is');
  expect(stdout.replaceAll('\u001b', '')).toMatch(/\[32m\+ \[cut [\da-f]{12}: \d+ of 200 turns/);
  expect(stdout).toContain('  Ana: remark 123 is');
  expect(stdout).toMatch(/\n {2}extract +\d+/);
});

test.each([
  [['--tier', 'best'], /Allowed choices are lossless, extractive\./],
  [['--budget', '0'], /Expected a number of tokens, or a share between 0 and 1/],
])('wrong usage: %j', async (args, message) => {
  const { code, stderr } = await tally(['compress', at('chat.txt'), ...args]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});

test('what is no UTF-8 is refused', async () => {
  const { code, stderr } = await tally(['compress', at('latin1.txt')]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/is not UTF-8/) });
});
