import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, parseJson, readStatus, utf8 } from '@tallystick/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Routed, startRouted, svcOf } from './compute.ts';
import { expectSchema } from './schemas.ts';

const described = { context: 400_000, max_output: 4_096, abilities: ['stream'], prior: { general: 0.9 } };
const page = 'https://prices.example/models';
const price = { input: '1', output: '2', source: { page, read_on: '2026-01-01' } };
const models = [
  { id: 'openai/gone', ...described, price, retires_at: '2026-01-02', successors: ['openai/new'] },
  {
    id: 'openai/ending',
    ...described,
    price: { ...price, source: { page, read_on: '2099-01-01' } },
    retires_at: '2099-12-31',
  },
  // 120 days before the clock of the tests, 1 March 2027.
  {
    id: 'openai/old',
    ...described,
    price: { ...price, source: { page, read_on: '2026-11-01' } },
    retires_at: '2027-03-20',
  },
  {
    id: 'openai/promised',
    ...described,
    price: { ...price, source: { ...price.source, valid_until: '2026-01-02' } },
  },
  {
    id: 'openai/new',
    ...described,
    prior: { general: 0.1 },
    price: {
      ...price,
      source: { page, read_on: '2099-01-01', copy: true },
      tariffs: [
        { above_tokens: 1_000, input: '2', output: '4' },
        { service_tier: 'priority', input: '10', output: '20' },
      ],
    },
  },
];
const folder = mkdtempSync(join(tmpdir(), 'tally-upkeep-'));
let routed: Routed;
const only = (...ids: string[]): JsonObject => ({ model: 'auto', provider: { only: ids } });

const file = join(folder, 'models.json');
const start = (env: Record<string, string> = {}) =>
  startRouted({
    explain: true,
    env: { TALLY_CONFIG: file, ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '', ...env },
  });

beforeAll(async () => {
  writeFileSync(file, JSON.stringify({ models }));
  routed = await start();
});
afterAll(async () => {
  await routed.close();
  rmSync(folder, { recursive: true });
});

test('auto passes over models past their date and prices that are no longer promised', async () => {
  const reply = await routed.chat(only('openai/gone', 'openai/promised', 'openai/new'));
  expect(reply.status).toBe(200);
  expect(svcOf(reply).served.model).toBe('openai/new');
  expect(svcOf(reply).routing).toMatchObject({
    outcome: {
      scores: expect.arrayContaining([
        expect.objectContaining({ model: 'openai/gone', excluded: 'retired' }),
        expect.objectContaining({ model: 'openai/promised', excluded: 'outdated_price' }),
      ]),
    },
  });
});

test.each([
  ['openai/gone', 404, 'model_gone', /openai shut this model down on 2026-01-02\. Name openai\/new, or auto/],
  ['openai/promised', 503, 'price_outdated', /read on 2026-01-01/],
])('a call that names %s is refused with %i %s', async (model, status, code, text) => {
  const reply = await routed.chat({ model });
  expect(reply.status).toBe(status);
  expect(reply.json).toMatchObject({ error: { code, message: expect.stringMatching(text), param: 'model' } });
});

test('a long prompt has its own tariff, in the route, the reservation and the bill', async () => {
  const long = [{ role: 'user', content: 'stick '.repeat(1_500) }];
  const reply = await routed.chat({ model: 'openai/new', messages: long, svc: { compression: 'off' } });
  const { billing, routing } = svcOf(reply);
  expect(routing).toMatchObject({ inputs: { candidates: [{ input_price: '2000000000' }] } });
  const { prompt_tokens: prompt, completion_tokens: completion } = billing.usage;
  expect(prompt).toBeGreaterThan(1_000);
  expect(billing['price_per_million_tokens']).toMatchObject({ input: { usdc: '2.000000000' } });
  expect(billing.charge.nano).toBe(String(Number(prompt) * 2_000 + Number(completion) * 4_000));
  const short = svcOf(await routed.chat({ model: 'openai/new' })).billing;
  expect(short['price_per_million_tokens']).toMatchObject({ input: { usdc: '1.000000000' } });
});

test('the lists of models show page and day of each price, tariffs, dates and what is wrong', async () => {
  const { data } = (await (await fetch(`${routed.url}/v1/compute/models`)).json()) as {
    data: { id: string; svc: JsonObject }[];
  };
  const found = new Map(data.map(({ id, svc }) => [id, svc]));
  expect(found.get('openai/gone')).toMatchObject({
    warning: 'retired',
    retires_at: '2026-01-02',
    successors: ['openai/new'],
  });
  expect(found.get('openai/promised')).toMatchObject({ warning: 'price_outdated' });
  expect(found.get('openai/new')).toMatchObject({
    warning: null,
    retires_at: null,
    price_source: { page, read_on: '2099-01-01', copy: true, valid_until: null },
    tariffs: [
      { above_tokens: 1_000, service_tier: null },
      { above_tokens: null, service_tier: 'priority' },
    ],
  });
  expect(found.get('local/extract-1')).toMatchObject({ price_source: null, tariffs: [] });
  const anthropic = (await (await fetch(`${routed.url}/v1/compute/v1/models`)).json()) as {
    data: JsonObject[];
  };
  expect(anthropic.data.map(({ id }) => id)).not.toContain('openai/gone');
  expect(anthropic.data).toContainEqual(
    expect.objectContaining({
      id: 'openai/ending',
      lifecycle: 'deprecated',
      retires_at: '2099-12-31T00:00:00Z',
    }),
  );
});

test('the metrics have the age of each price and the days until each model ends, and nothing where there is none', async () => {
  const { text } = await routed.service.get('/metrics');
  const found = (name: string, id: string): string | undefined =>
    text.match(new RegExp(`^${name}\\{provider="\\w+",model="${id}"\\} (.+)$`, 'm'))?.[1];
  const ids = ['openai/old', 'openai/new', 'openai/gone', 'local/extract-1'];
  const valuesOf = (name: string) => Object.fromEntries(ids.map((id) => [id, found(name, id)]));
  expect(valuesOf('compute_price_age_days')).toEqual({
    'openai/old': '120',
    'openai/new': '0',
    'openai/gone': '424',
    'local/extract-1': undefined,
  });
  expect(valuesOf('compute_model_retires_in_days')).toEqual({
    'openai/old': '19',
    'openai/new': undefined,
    'openai/gone': '-423',
    'local/extract-1': undefined,
  });
});

/** What `/status` says of models, after a round. */
async function statusOf({ service }: Routed): Promise<Map<string, object>> {
  await service.services.status.round();
  const document = parseJson(utf8((await service.get('/status')).text)) as JsonObject;
  expectSchema('status', document);
  return new Map(readStatus(document).models.map((model) => [model.id, model]));
}

test('the status shows models that ended or whose price is no longer promised as down, and warns of the others', async () => {
  const found = await statusOf(routed);
  expect(found.get('openai/gone')).toMatchObject({ state: 'down', code: 'model_gone' });
  expect(found.get('openai/promised')).toMatchObject({ state: 'down', code: 'price_outdated' });
  // The nearer end is said before the old price.
  expect(found.get('openai/old')).toMatchObject({ warning: 'retires_soon' });
  expect(found.get('openai/gpt-6-luna')).toMatchObject({ warning: 'price_old' });
  expect(found.get('openai/new')).not.toHaveProperty('warning');
});

test.each([
  ['119', 503, 'price_outdated', 0, 'openai/new', { state: 'down', code: 'price_outdated' }],
  ['120', 200, undefined, 1, 'openai/old', { state: 'up', warning: 'retires_soon' }],
])(
  'with TALLY_PRICE_MAX_AGE_DAYS=%s a price of 120 days is answered %i %s',
  async (days, status, code, asked, chosen, light) => {
    const limited = await start({ TALLY_PRICE_MAX_AGE_DAYS: days });
    try {
      const named = await limited.chat({ model: 'openai/old' });
      const error = named.json['error'] as JsonObject | undefined;
      expect([named.status, error?.['code']]).toEqual([status, code]);
      expect(limited.upstream.requests).toHaveLength(asked);
      const routedTo = await limited.chat({ ...only('openai/old', 'openai/new'), cost_quality: 10 });
      expect(svcOf(routedTo).served.model).toBe(chosen);
      expect((await statusOf(limited)).get('openai/old')).toMatchObject(light);
      await limited.expectBalanced();
    } finally {
      await limited.close();
    }
  },
);
