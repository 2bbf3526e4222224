import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@tallystick/core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { RouteExplanation } from '../../inference/src/router/record.ts';
import { replay } from '../../inference/src/router/replay.ts';
import { type Routed, startRouted, svcOf } from './compute.ts';
import { apiKey, type Reply, shareLearned } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-experiments-'));
afterAll(() => rmSync(folder, { recursive: true }));
let routed: Routed;
afterEach(() => routed.close());

function start(experiments: JsonObject): Promise<Routed> {
  return startRouted({
    explain: true,
    env: (url) => {
      const model = (name: string, general: number, price: string) => ({
        id: `stub/${name}`,
        context: 100_000,
        max_output: 4_000,
        abilities: ['stream'],
        price: { input: price, output: price },
        prior: { general },
      });
      const file = join(folder, `${new URL(url).port}.json`);
      const providers = [{ name: 'stub', kind: 'openai', base_url: `${url}/v1`, api_key_env: 'STUB_KEY' }];
      const models = [model('small', 0.5, '0.1'), model('large', 0.9, '4')];
      writeFileSync(file, JSON.stringify({ providers, models, experiments }));
      return { STUB_KEY: 'sk-stub', TALLY_CONFIG: file };
    },
  });
}

const AUTO = { model: 'auto', provider: { only: ['stub'] } };
const routeOf = (reply: Reply) => {
  expect(reply.status, reply.text).toBe(200);
  return svcOf(reply).routing as unknown as RouteExplanation;
};
const replays = (route: RouteExplanation) => replay(route as unknown as JsonObject).same;

describe('a comparison', () => {
  it('gives its share of the calls the other weight, says so, and counts both', async () => {
    routed = await start({ compare: { name: 'cheap', share: 1, cost_quality: 0 } });
    const route = routeOf(await routed.chat(AUTO));
    expect(route.outcome.model).toBe('stub/small');
    expect(route.inputs).toMatchObject({
      cost_quality: 0,
      comparison: { name: 'cheap', share: 1, arm: 'b' },
    });
    expect(replays(route)).toBe(true);

    const own = routeOf(await routed.chat({ ...AUTO, cost_quality: 10 }));
    expect(own.outcome.model).toBe('stub/large');
    expect(own.inputs).not.toHaveProperty('comparison');
    expect(routeOf(await routed.chat({ ...AUTO, svc: { session: 's' } })).inputs).not.toHaveProperty(
      'comparison',
    );
    const receipt_id = svcOf(await routed.chat(AUTO)).receipt.receipt_id;
    await shareLearned(routed.service);
    const rated = await routed.post('/v1/compute/feedback', { receipt_id, score: 40 });
    expect(rated.status).toBe(200);
    const metrics = (await routed.service.get('/metrics')).text;
    expect(metrics).toContain('compute_comparison_calls_total{arm="cheap:b"} 2');
    expect(metrics).toContain('compute_rating_scores_total{model="stub/small",arm="cheap:b"} 40');
  });

  it('leaves the others as they are', async () => {
    routed = await start({ compare: { name: 'cheap', share: 0, cost_quality: 0 } });
    const route = routeOf(await routed.chat(AUTO));
    expect(route.inputs).toMatchObject({ cost_quality: 5, comparison: { arm: 'a' } });
    expect(replays(route)).toBe(true);
  });
});

describe('an API key', () => {
  it('has its own share of the comparison, and its own bandit, whatever the file says', async () => {
    routed = await start({ compare: { name: 'cheap', share: 0, cost_quality: 0 }, bandit: ['*'] });
    const { apiKeys } = routed.service.services.store;
    const routeWith = async (experiments: JsonObject) => {
      const key = await apiKey(routed.service, 'scale');
      const ids = [];
      for await (const { id, routing } of apiKeys.list()) if (routing === null) ids.push(id);
      for (const id of ids) await apiKeys.setRouting(id, JSON.stringify({ experiments }));
      return routeOf(await routed.chat(AUTO, key)).inputs;
    };
    expect(await routeWith({ compare: 1 })).toMatchObject({
      cost_quality: 0,
      comparison: { share: 1, arm: 'b' },
      bandit: {},
    });
    const none = await routeWith({ compare: 0, bandit: false });
    expect(none.cost_quality).toBe(5);
    expect(none).not.toHaveProperty('comparison');
    expect(none).not.toHaveProperty('bandit');
  });
});

describe('a bandit', () => {
  it('goes by the ratings of its key alone, and each of its choices replays', async () => {
    routed = await start({ bandit: ['*'] });
    const [key, other] = [await apiKey(routed.service, 'scale'), await apiKey(routed.service, 'scale')];
    for (let call = 0; call < 60; call += 1) {
      const reply = await routed.chat({ ...AUTO, cost_quality: 10 }, key);
      const route = routeOf(reply);
      expect(replays(route)).toBe(true);
      const { receipt_id } = svcOf(reply).receipt;
      await shareLearned(routed.service);
      const score = route.outcome.model === 'stub/large' ? 0 : 100;
      const rated = await routed.post('/v1/compute/feedback', { receipt_id, score }, key);
      expect(rated.status).toBe(200);
      // So that ratings are read again.
      routed.service.clock.advance(5_000);
    }
    const last = routeOf(await routed.chat({ ...AUTO, cost_quality: 10 }, key));
    const ratings = (route: RouteExplanation, id: string) =>
      route.inputs.candidates.find(({ model }) => model === id)?.ratings?.count ?? 0;
    expect(ratings(last, 'stub/large') + ratings(last, 'stub/small')).toBe(60);
    expect(ratings(last, 'stub/small')).toBeGreaterThan(0);
    expect(last.inputs.bandit?.ratings).toMatch(/^[0-9a-f]{64}$/);
    // A changed rating is refused, though it may lead to the same outcome. Older explanations have no hash.
    const candidates = last.inputs.candidates.map((one) =>
      one.ratings === undefined ? one : { ...one, ratings: { ...one.ratings, score: one.ratings.score + 1 } },
    );
    const forged = (bandit: RouteExplanation['inputs']['bandit']) =>
      ({ ...last, inputs: { ...last.inputs, candidates, bandit } }) as unknown as JsonObject;
    expect(() => replay(forged(last.inputs.bandit))).toThrow('inputs.bandit.ratings');
    const { seed = '' } = last.inputs.bandit ?? {};
    expect(() => replay(forged({ seed }))).not.toThrow();
    const stranger = routeOf(await routed.chat({ ...AUTO, cost_quality: 10 }, other));
    expect(stranger.inputs.bandit?.seed).toMatch(/^[0-9a-f]{32}$/);
    expect(ratings(stranger, 'stub/large')).toBe(0);
  });

  it('is off for a key that the operator does not name', async () => {
    routed = await start({ bandit: ['key_0123456789abcdef'] });
    expect(routeOf(await routed.chat(AUTO)).inputs).not.toHaveProperty('bandit');
  });
});
