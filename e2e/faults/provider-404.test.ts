import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { serveUntrusted, type Untrusted } from '../clients.ts';
import { post, temporaryFolder } from '../process.ts';

/** The chat model that the provider no longer has: its id in our catalogue, and its name at the provider. */
const GONE = 'openai/gpt-4o-mini';
const GONE_UPSTREAM = 'gpt-4o-mini';
const only = { provider: { only: [GONE, 'openai/gpt-4o'], order: [GONE] } };
const messages = [{ role: 'user', content: 'Say it.' }];

let service: Untrusted;
beforeAll(async () => {
  service = await serveUntrusted({ TALLY_DATA_DIR: temporaryFolder(), TALLY_LOG_LEVEL: 'warn' });
  service.upstream.always(({ body }) =>
    body['model'] === GONE_UPSTREAM ? { fault: { kind: 'status', status: 404 } } : {},
  );
  // The service learns that the model is gone.
  await chat(only);
});

async function chat(body: JsonObject): Promise<{ status: number; json: JsonObject }> {
  const { status, text } = await post(`${service.baseURL}/chat/completions`, { messages, ...body });
  return { status, json: JSON.parse(text) as JsonObject };
}

async function getJson(path: string): Promise<JsonObject> {
  const response = await fetch(`${service.url}${path}`, { headers: { accept: 'application/json' } });
  return (await response.json()) as JsonObject;
}

const asksForTheGone = () =>
  service.upstream.requests.filter(({ body }) => body['model'] === GONE_UPSTREAM).length;

let ended: Awaited<ReturnType<Untrusted['close']>> | undefined;
afterAll(async () => {
  if (ended === undefined) await service.close();
});

it('a model that its provider answers 404 for is passed over by auto', async () => {
  for (let call = 0; call < 5; call += 1) {
    const { status, json } = await chat(only);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(json).toMatchObject({ svc: { served: { model: 'openai/gpt-4o' } } });
  }
  expect(asksForTheGone()).toBe(1);
});

it('by its name it is 404 with a code of its own', async () => {
  const { status, json } = await chat({ model: GONE });
  expect([status, json['code'], json['field']]).toEqual([404, 'model_gone', 'model']);
  expect(asksForTheGone()).toBe(1);
});

it('is shown as gone in the list of models, and in the next signed status', async () => {
  const models = await getJson('/v1/compute/models');
  const listed = (models['data'] as JsonObject[]).find(({ id }) => id === GONE);
  expect(listed).toMatchObject({ svc: { health: { state: 'down', code: 'model_gone' } } });
  // A document is made each minute, up to five seconds later.
  const status = await vi.waitFor(
    async () => {
      const found = await getJson('/status');
      expect(found['models']).toContainEqual(
        expect.objectContaining({ id: GONE, state: 'down', code: 'model_gone' }),
      );
      return found;
    },
    { timeout: 75_000, interval: 1_000 },
  );
  expect(status['endpoints']).toHaveLength(17);
  expect(status['providers']).toContainEqual(
    expect.objectContaining({ id: 'openai', state: 'degraded', code: 'model_gone' }),
  );
});

it('is warned of once in the log, without the address of the provider', async () => {
  ended = await service.close();
  const lines = ended.stderr.split('\n').filter((line) => line.includes('no longer offers the model'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    provider: 'openai',
    model: GONE_UPSTREAM,
  });
  expect(ended.stderr).not.toContain(service.upstream.url);
});
