import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { JsonObject } from '@tallystick/core';
import { explainRequest } from '@tallystick/inference';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { explainRoute } from './explain.ts';

const request = {
  messages: [{ role: 'user', content: 'Which is prime?\nA. 4\nB. 7\nAnswer:' }],
  cost_quality: 9,
};
let folder: string;
let printed: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'route-'));
  printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += stripVTControlCharacters(String(text));
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function file(content: unknown): string {
  const path = join(folder, 'in.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

function routing(): JsonObject {
  const { recorded } = explainRequest(request, { OPENAI_API_KEY: 'x' }, {});
  return recorded as unknown as JsonObject;
}

it('shows that an answer went where its inputs lead', async () => {
  expect(await explainRoute(file({ id: 'chatcmpl-1', svc: { routing: routing() } }), {})).toBe(0);
  expect(printed).toMatch(/^> openai\//m);
  expect(printed).toContain('The recorded inputs lead to the recorded outcome.');
});

it('reads a row of the list of calls, and says where the whole is of an answer with the outcome alone', async () => {
  expect(await explainRoute(file({ id: 'r_env_1', routing: routing() }), {})).toBe(0);
  const { outcome } = routing();
  const answer = file({ id: 'chatcmpl-1', svc: { routing: { outcome } } });
  await expect(explainRoute(answer, {})).rejects.toThrow('tally calls show');
});

it('fails where the recorded outcome is another', async () => {
  const changed = structuredClone(routing()) as { outcome: { model: string } };
  changed.outcome.model = 'openai/gpt-4o';
  expect(await explainRoute(file(changed), {})).toBe(1);
  expect(printed).toContain('differs from what the recorded inputs lead to: model.');
});

it('decides a request with the operator’s file', async () => {
  const config = join(folder, 'models.json');
  writeFileSync(config, JSON.stringify({ models: [{ id: 'local/extract-1', context: 10 }] }));
  await expect(explainRoute(file(request), { config })).rejects.toMatchObject({ code: 'context_too_long' });
  writeFileSync(config, '{}');
  expect(await explainRoute(file(request), { config, json: true })).toBe(0);
  expect(JSON.parse(printed)).toMatchObject({ same: true, outcome: { model: 'local/extract-1' } });
});

it('names the strategy and what it was given', async () => {
  const provider = { sort: 'price', daily_budget: '2.5', max_price: { request: '0.01' } };
  const config = join(folder, 'models.json');
  writeFileSync(config, '{}');
  expect(await explainRoute(file({ ...request, provider }), { config })).toBe(0);
  expect(printed).toMatch(/^ {2}sorted by +price$/m);
  expect(printed).toMatch(/^ {2}at most +0\.01 USDC for the call$/m);
  expect(printed).toMatch(/^ {2}day's budget 2\.5 USDC, of which 0 USDC are spent$/m);
});

it('refuses what is neither', async () => {
  await expect(explainRoute(file({ a: 1 }), {})).rejects.toMatchObject({ code: 'unknown_field' });
});
