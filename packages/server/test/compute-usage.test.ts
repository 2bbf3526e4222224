import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../src/app/app.ts';
import { createLogger } from '../src/observability/observability.ts';
import { CHAT, messages, type Routed, startRouted, svcOf } from './compute.ts';
import { withModels } from './models.ts';
import { toReply } from './service.ts';
import type { Script } from './upstream.ts';

const PUBLIC = 'openai/gpt-4o-mini';
/** Its tokenizer is not public. */
const OTHER = 'openai/other';

const PDF = 'data:application/pdf;base64,JVBERi0xLjQ';

const folder = mkdtempSync(join(tmpdir(), 'tally-usage-'));
const catalogue = {
  models: [
    {
      id: OTHER,
      context: 128_000,
      max_output: 16_384,
      abilities: ['tools', 'vision', 'stream'],
      price: { input: '0.15', output: '0.60' },
      prior: { general: 0.5 },
    },
  ],
};

let routed: Routed;
beforeAll(async () => {
  const file = join(folder, 'models.json');
  writeFileSync(file, JSON.stringify(withModels(catalogue)));
  routed = await startRouted({ explain: true, env: { TALLY_CONFIG: file } });
});
afterAll(async () => {
  await routed.close();
  rmSync(folder, { recursive: true });
});

it.each<[string, JsonObject]>([
  ['a file', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: PDF } }] }] }],
  ['a search by the provider', { web_search_options: {} }],
])('%s may fill the context, and is paid for', async (_, body) => {
  routed.upstream.play({ wrongUsage: usage(100_000, 8) });
  const { billing } = svcOf(await routed.chat({ ...body, max_tokens: 100 }));
  expect(billing.usage).toMatchObject({ prompt_tokens: 100_000, counted_by: 'provider' });
  expect(billing.charge).toEqual(billing['provider_cost']);
});

const words = (count: number): string[] => Array.from({ length: count }, () => 'ferry ');
/** 1,000 tokens or so. */
const LONG = words(1_000);
const digits = Array.from({ length: 500 }, (_, index) => `${1_000_000 + index * 7_919} `);
const russian = Array.from({ length: 300 }, () => 'паром уходит утром ');
const usage = (prompt: number, completion: number, more: JsonObject = {}): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...more,
});
const reasoned = (tokens: number): JsonObject => ({
  completion_tokens_details: { reasoning_tokens: tokens },
});

interface Case {
  readonly name: string;
  readonly script: Script;
  readonly body?: JsonObject;
  readonly model?: string;
}

/** Where `why` is null, the provider is billed for, and bills, what it counted. */
const LIES: readonly (Case & { readonly why: string })[] = [
  {
    name: 'a billion of each',
    why: 'limit',
    script: { wrongUsage: usage(1e9, 1e9) },
    body: { max_tokens: 100 },
  },
  { name: 'nothing for a thousand words', why: 'zero', script: { pieces: LONG, wrongUsage: usage(27, 0) } },
  {
    name: 'nothing of either for a thousand words',
    why: 'zero',
    script: { pieces: LONG, wrongUsage: usage(0, 0) },
  },
  {
    name: 'all of it reasoning, with a thousand words to see',
    why: 'zero',
    script: { pieces: LONG, wrongUsage: usage(27, 1_500, reasoned(1_500)) },
  },
  {
    name: 'one more than was asked for',
    why: 'limit',
    script: { wrongUsage: usage(27, 101) },
    body: { max_tokens: 100 },
  },
  {
    name: 'one more than was asked for, of two choices',
    why: 'limit',
    script: { wrongUsage: usage(27, 201) },
    body: { max_tokens: 100, n: 2 },
  },
  {
    name: 'three times the words',
    why: 'completion',
    script: { pieces: LONG, wrongUsage: usage(27, 3_000) },
  },
  { name: 'a tenth of the words', why: 'completion', script: { pieces: LONG, wrongUsage: usage(27, 90) } },
  {
    name: 'three times the words, of an unknown tokenizer',
    why: 'completion',
    model: OTHER,
    script: { pieces: LONG, wrongUsage: usage(27, 3_000) },
  },
  {
    name: 'a prompt of a thousand for seven letters',
    why: 'prompt',
    script: { wrongUsage: usage(1_000, 8) },
  },
  {
    name: 'a prompt of ten for a thousand words',
    why: 'prompt',
    script: { wrongUsage: usage(10, 8) },
    body: { messages: [{ role: 'user', content: LONG.join('') }] },
  },
  {
    name: 'a prompt with an image that is longer than any the model reads',
    why: 'prompt',
    script: { wrongUsage: usage(200_000, 8) },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
      ],
    },
  },
  { name: 'a negative count', why: 'malformed', script: { wrongUsage: usage(-5, 3) } },
  { name: 'a fraction', why: 'malformed', script: { wrongUsage: usage(27, 8.5) } },
  { name: 'more than a billion', why: 'malformed', script: { wrongUsage: usage(27, 2e9) } },
  { name: 'more reasoning than tokens', why: 'malformed', script: { wrongUsage: usage(27, 8, reasoned(9)) } },
];

const HONEST: readonly Case[] = [
  { name: 'of a short answer', script: {} },
  { name: 'of a long answer', script: { pieces: LONG, wrongUsage: usage(27, 1_001) } },
  {
    name: 'with reasoning, which is billed in full',
    script: { wrongUsage: usage(27, 4_008, reasoned(4_000)) },
  },
  {
    name: 'with reasoning beside the completion tokens',
    script: { wrongUsage: { ...usage(27, 8, reasoned(900)), total_tokens: 935 } },
  },
  {
    name: 'with predictions that were not taken',
    script: {
      wrongUsage: usage(27, 508, { completion_tokens_details: { rejected_prediction_tokens: 500 } }),
    },
  },
  {
    name: 'of exactly what was asked for',
    script: { pieces: words(100), wrongUsage: usage(27, 100) },
    body: { max_tokens: 100 },
  },
  {
    name: 'of digits that are tokens each',
    model: OTHER,
    script: { pieces: digits, wrongUsage: usage(27, 4_000) },
  },
  { name: 'of Russian by bytes', model: OTHER, script: { pieces: russian, wrongUsage: usage(27, 8_000) } },
  {
    name: 'of a prompt with an image',
    script: { wrongUsage: usage(25_501, 8) },
    body: {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
      ],
    },
  },
  {
    name: 'of a tool call',
    script: {
      toolCalls: [{ id: 'c', name: 'look', pieces: ['{"at":', '1}'] }],
      wrongUsage: usage(480, 41),
    },
    body: { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }] },
  },
  { name: 'with an empty one after it', script: { emptyUsage: true } },
  { name: 'of an empty answer', script: { pieces: [''], wrongUsage: usage(27, 0) } },
];

const bothWays = <T>(cases: readonly T[]) =>
  [false, true].flatMap((stream) => cases.map((one) => ({ ...one, stream })));
const provider = async (model: string) => (await routed.balance(`provider:${model.split('/')[0]}`)).balance;

async function played({ script, body = {}, model = PUBLIC, stream }: Case & { stream: boolean }) {
  routed.upstream.play(script);
  const before = await provider(model);
  const asked = { model, ...body };
  const svc = stream ? (await routed.stream(asked)).svc : svcOf(await routed.chat(asked));
  if (svc === null) throw new Error('There is no svc.');
  await routed.expectBalanced();
  return { svc, booked: (await provider(model)) - before };
}

describe('a provider’s count that can’t be true', () => {
  it.each(bothWays(LIES))('$name ($why, stream: $stream): the caller is billed by our own', async (row) => {
    const counted = async (): Promise<number> => {
      const { text } = await routed.service.get('/metrics');
      const lines = text.matchAll(/^compute_usage_doubted_total\{[^}]*why="(\w+)"\} (\d+)$/gm);
      return [...lines].reduce((sum, [, why, count]) => sum + (why === row.why ? Number(count) : 0), 0);
    };
    const before = await counted();
    const { svc, booked } = await played(row);
    expect(svc.receipt.call).toMatchObject({ usage_estimated: true, complete: true });
    expect(svc.billing.usage).toMatchObject({ counted_by: 'tallystick' });
    const { prompt_tokens: prompt, completion_tokens: completion } = svc.receipt.call;
    expect(Number(prompt)).toBeLessThan(2_500);
    expect(Number(completion)).toBeLessThanOrEqual(1_010);
    expect(Number(completion)).toBeGreaterThanOrEqual(row.script.pieces === LONG ? 990 : 0);
    const charge = BigInt(svc.billing.charge.nano);
    expect(charge).toBeGreaterThan(0n);
    expect(svc.billing['provider_cost']).toEqual(svc.billing.charge);
    expect(await counted()).toBe(before + 1);
    const claimed = row.script.wrongUsage as { prompt_tokens: number; completion_tokens: number };
    const owed = BigInt(claimed.prompt_tokens * 150) + BigInt(Math.floor(claimed.completion_tokens) * 600);
    expect(booked).toBe(row.why === 'malformed' ? charge : owed);
  });
});

describe('a provider’s count that can be true', () => {
  it.each(bothWays(HONEST))('$name (stream: $stream): is billed as it is', async (row) => {
    const { svc, booked } = await played(row);
    expect(svc.receipt.call).toMatchObject({ usage_estimated: false, complete: true });
    const claimed = (row.script.wrongUsage ?? usage(12, 8)) as {
      prompt_tokens: number;
      total_tokens: number;
    };
    expect(svc.receipt.call).toMatchObject({
      prompt_tokens: claimed.prompt_tokens,
      completion_tokens: claimed.total_tokens - claimed.prompt_tokens,
    });
    expect(svc.billing['provider_cost']).toMatchObject({ nano: String(booked) });
  });
});

it.each([false, true])('of a model that thinks unseen is billed as it is (stream: %s)', async (stream) => {
  const script = { thinking: 'Hm. '.repeat(900), usage: { prompt: 27, completion: 2_000 } };
  const { svc } = await played({ name: '', model: 'anthropic/claude-haiku-4-5', script, stream });
  expect(svc.receipt.call).toMatchObject({ usage_estimated: false, completion_tokens: 2_000 });
});

it('names the provider and the counts in the log, and none of the text', async () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  const { services } = routed.service;
  const compute = { ...services.compute, pipeline: { ...services.compute.pipeline, logger } };
  const app = createApp({ ...services, compute });
  routed.upstream.play({ pieces: LONG, wrongUsage: usage(27, 0) });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const body = JSON.stringify({ model: PUBLIC, messages });
  const { receipt } = svcOf(await toReply(await app.request(CHAT, { ...init, body })));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      provider: 'openai',
      model: PUBLIC,
      receipt: receipt.receipt_id,
      why: 'zero',
      reported: { prompt: 27, completion: 0 },
      msg: 'a provider reported an implausible token count',
    }),
  );
  expect(lines.join('')).not.toContain('ferry');
});
