import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@tallystick/core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createApiKey } from '../../callers/src/manage-api-keys.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import { readConfig } from '../src/config/config.ts';
import { type Routed, startRouted, svcOf } from './compute.ts';
import { apiKey } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-shadow-'));
afterAll(() => rmSync(folder, { recursive: true }));
let routed: Routed;
afterEach(() => routed.close());

interface Operator {
  readonly id: string;
  readonly headers: { readonly authorization: string };
}

/** A service that sends each call to `stub/new` too, at the cost of a key of the operator. */
async function start(shadow: JsonObject = {}, settings: NodeJS.ProcessEnv = {}): Promise<Operator> {
  const model = (name: string, general: number) => ({
    id: `stub/${name}`,
    context: 100_000,
    max_output: 4_000,
    abilities: ['stream'],
    price: { input: '1', output: '1' },
    prior: { general },
  });
  let env: NodeJS.ProcessEnv = {};
  let write = (_experiments: JsonObject): void => {};
  routed = await startRouted({
    env: (url) => {
      const file = join(folder, `${new URL(url).port}.json`);
      const providers = [{ name: 'stub', kind: 'openai', base_url: `${url}/v1`, api_key_env: 'STUB_KEY' }];
      const models = [model('old', 0.9), model('new', 0.5)];
      write = (experiments) => writeFileSync(file, JSON.stringify({ providers, models, experiments }));
      write({});
      env = { STUB_KEY: 'sk-stub', TALLY_CONFIG: file, ...settings };
      return env;
    },
  });
  const { services, processes, clock, config } = routed.service;
  const { apiKeySecret } = withApiKeySecret(services.issuer.keyring);
  const made = await createApiKey(services.store, apiKeySecret, { tier: 'scale', label: null, now: clock() });
  write({ shadow: { name: 'next', share: 1, model: 'stub/new', key: made.id, ...shadow } });
  for (const process of processes)
    await process.reload(readConfig({ TALLY_DATA_DIR: config.dataDir, TALLY_DEVNET: 'off', ...env }));
  return { id: made.id, headers: { authorization: `Bearer ${made.key}` } };
}

const AUTO = { model: 'auto', provider: { only: ['stub'] } };
const modelsAsked = () => routed.upstream.requests.map(({ body }) => body['model']);

/** Waits for the shadows that are under way. */
async function settled(): Promise<void> {
  for (const { compute } of routed.service.processes) {
    while (compute.pipeline.unbilled.size > 0) await Promise.all(compute.pipeline.unbilled);
    await compute.listed();
  }
}

async function metric(outcome: string): Promise<number> {
  const { text } = await routed.service.get('/metrics');
  const line = new RegExp(
    `^compute_shadow_calls_total\\{model="stub/new",outcome="${outcome}"\\} (\\d+)$`,
    'm',
  );
  return Number(line.exec(text)?.[1] ?? 0);
}

interface ListedCall {
  readonly model: string;
  readonly receipt_id: string;
  readonly tags: JsonObject;
}

const callsOf = async ({ headers }: Pick<Operator, 'headers'>): Promise<ListedCall[]> => {
  const { json } = await routed.service.get('/v1/compute/calls', headers);
  return json['data'] as unknown as ListedCall[];
};

describe('a shadow', () => {
  it('follows the answer, is paid and listed by the operator’s key, and has a receipt', async () => {
    const operator = await start();
    const caller = await apiKey(routed.service, 'scale');
    const reply = await routed.chat(AUTO, caller);
    const { receipt_id } = svcOf(reply).receipt;
    expect(svcOf(reply).served.model).toBe('stub/old');
    await settled();
    expect(modelsAsked()).toEqual(['old', 'new']);
    const [shadow, ...more] = await callsOf(operator);
    expect(more).toEqual([]);
    expect(shadow).toMatchObject({ model: 'stub/new', tags: { shadow: 'next', shadow_of: receipt_id } });
    const receipt = await routed.service.get(`/v1/receipt/${shadow?.receipt_id}`);
    expect(receipt.status).toBe(200);
    expect((await callsOf({ headers: caller })).map(({ model }) => model)).toEqual(['stub/old']);
    expect(await metric('answered')).toBe(1);
    await routed.expectBalanced();
  });

  it('keeps nothing of a caller’s prompt under the operator’s key', async () => {
    const operator = await start({}, { TALLY_KEEP_CONTENT_DAYS: '1' });
    const caller = await apiKey(routed.service, 'scale');
    const reply = await routed.chat({ ...AUTO, svc: { keep: true } }, caller);
    await settled();
    const [shadow] = await callsOf(operator);
    const contentOf = (id: string | undefined, headers: Record<string, string>) =>
      routed.service.get(`/v1/compute/calls/${id}/content`, headers);
    expect((await contentOf(svcOf(reply).receipt.receipt_id, caller)).status).toBe(200);
    expect((await contentOf(shadow?.receipt_id, operator.headers)).status).toBe(404);
  });

  it('follows a stream in one piece, once it is billed', async () => {
    await start();
    const { status } = await routed.stream({ ...AUTO, stream_options: { include_usage: true } });
    expect(status).toBe(200);
    await expect.poll(modelsAsked).toEqual(['old', 'new']);
    await settled();
    const { body } = routed.upstream.requests[1] ?? {};
    expect(body).not.toHaveProperty('stream');
    expect(await metric('answered')).toBe(1);
  });

  it.each([
    ['of a named model', { model: 'stub/old' }],
    ['of a session', { ...AUTO, svc: { session: 's' } }],
    ['that may not be routed to its model', { ...AUTO, provider: { only: ['stub/old'] } }],
  ])('follows no call %s', async (_what, body) => {
    await start();
    expect((await routed.chat(body)).status).toBe(200);
    await settled();
    expect(modelsAsked()).not.toContain('new');
  });

  it('is drawn for a share of the calls, of which a key may have its own', async () => {
    await start({ share: 0 });
    await routed.chat(AUTO);
    await settled();
    expect(modelsAsked()).toEqual(['old']);
    const caller = await apiKey(routed.service, 'scale');
    const { apiKeys } = routed.service.services.store;
    const ids: string[] = [];
    for await (const { id } of apiKeys.list()) ids.push(id);
    for (const id of ids) await apiKeys.setRouting(id, JSON.stringify({ experiments: { shadow: 1 } }));
    await routed.chat(AUTO, caller);
    await settled();
    expect(modelsAsked()).toEqual(['old', 'old', 'new']);
  });

  it('that fails, or whose budget is used up, changes nothing for the caller', async () => {
    const operator = await start();
    routed.upstream.play({}, { fault: { kind: 'status', status: 400, message: 'no' } });
    expect((await routed.chat(AUTO)).status).toBe(200);
    await settled();
    expect(await metric('failed')).toBe(1);
    const { apiKeys } = routed.service.services.store;
    await apiKeys.change(operator.id, () => ({ limits: JSON.stringify({ day_usdc: '0.000000001' }) }));
    expect((await routed.chat(AUTO)).status).toBe(200);
    await settled();
    expect(await metric('unpaid')).toBe(1);
    expect(modelsAsked()).toEqual(['old', 'new', 'old']);
  });
});
