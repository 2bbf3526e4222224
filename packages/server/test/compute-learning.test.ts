import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RouteExplanation } from '../../inference/src/router/record.ts';
import { replay } from '../../inference/src/router/replay.ts';
import { CHAT, messages, type Routed, startRouted, svcOf } from './compute.ts';
import { DATABASES, type Reply } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-learning-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The one that reasons has an eighth of the other's price for a token. */
function modelsAt(url: string): string {
  const model = (id: string, output: string, more: string[]) => ({
    id: `stub/${id}`,
    context: 100_000,
    max_output: 32_000,
    abilities: ['tools', 'json', 'stream', ...more],
    price: { input: '0.1', output },
    prior: { general: 0.7 },
  });
  const file = join(folder, `${new URL(url).port}.json`);
  const catalogue = {
    providers: [{ name: 'stub', kind: 'openai', base_url: `${url}/v1`, api_key_env: 'STUB_KEY' }],
    models: [model('plain', '4', []), model('thinker', '0.5', ['reasoning'])],
  };
  writeFileSync(file, JSON.stringify(catalogue));
  return file;
}

const AUTO = { model: 'auto', cost_quality: 0, provider: { only: ['stub'] } };
const THINKER = { model: 'stub/thinker' };

/** Tokens of an answer, of which all but 8 are reasoning. */
const thought = (completion: number) => ({
  wrongUsage: {
    prompt_tokens: 12,
    completion_tokens: completion,
    completion_tokens_details: { reasoning_tokens: completion - 8 },
  },
});

const SHORT = { usage: { prompt: 12, completion: 8 } };

const routeOf = (reply: Reply) => svcOf(reply).routing as unknown as RouteExplanation;
const recordIn = ({ inputs }: RouteExplanation, id: string) =>
  inputs.candidates.find(({ model }) => model === `stub/${id}`);

/** Services with nothing in common but their database and their keys, as processes are. */
describe.each(DATABASES)('three services on one database, %s,', (database) => {
  const all: Routed[] = [];
  const open = async (env: (url: string) => NodeJS.ProcessEnv) => {
    const routed = await startRouted({
      explain: true,
      database,
      env: (url) => ({ STUB_KEY: 'sk-stub', TALLY_CONFIG: modelsAt(url), ...env(url) }),
    });
    all.push(routed);
    return routed;
  };
  beforeAll(async () => {
    const first = await open(() => ({}));
    const { database: shared, keyring, dataDir } = first.service.config;
    const same = () => ({
      TALLY_DATA_DIR: dataDir,
      TALLY_KEYRING: keyring.path,
      ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
    });
    await open(same);
    await open(same);
  });
  afterAll(async () => {
    for (const routed of all.toReversed()) await routed.close();
  });
  const learn = async () => {
    for (let round = 0; round < 2; round += 1)
      await Promise.all(
        all.flatMap(({ service }) => service.processes.map(({ compute }) => compute.learn())),
      );
  };
  const ask = async (routed: Routed | undefined, body: JsonObject) => {
    const reply = await routed?.chat(body);
    if (reply === undefined) throw new Error('There are three services.');
    expect(reply.status, reply.text).toBe(200);
    return reply;
  };

  it('assume that a model that reasons needs more tokens', async () => {
    const route = routeOf(await ask(all[0], AUTO));
    expect(route.outcome.model).toBe('stub/thinker');
    expect(recordIn(route, 'thinker')?.expected_output).toBe(1_024);
    expect(recordIn(route, 'plain')).not.toHaveProperty('expected_output');
  });

  it('learn from all of them what its answers cost, and choose by that', async () => {
    for (const { upstream } of all) upstream.always(thought(6_000));
    for (const routed of all) for (let call = 0; call < 8; call += 1) await ask(routed, THINKER);
    await learn();
    for (const { upstream } of all) upstream.always(SHORT);
    const routes = await Promise.all(all.map(async (routed) => routeOf(await ask(routed, AUTO))));
    for (const { outcome } of routes) expect(outcome.model).toBe('stub/plain');
    const lengths = routes.map((route) => recordIn(route, 'thinker')?.expected_output ?? 0);
    expect(lengths[0]).toBeGreaterThan(4_000);
    expect(new Set(lengths).size).toBe(1);
    expect(new Set(routes.map(({ inputs }) => inputs.learned)).size).toBe(1);
    for (const route of routes) {
      expect(route.inputs.learned).toMatch(/^[0-9a-f]{64}$/);
      expect(replay(route as unknown as JsonObject).same).toBe(true);
    }
  });

  it('refuse to replay a route whose record of what was learned was changed', async () => {
    const route = routeOf(await ask(all[1], AUTO));
    const candidates = route.inputs.candidates.map((one) => ({ ...one, expected_output: 1 }));
    const forged = { ...route, inputs: { ...route.inputs, candidates } };
    expect(() => replay(forged as unknown as JsonObject)).toThrow('inputs.learned');
  });

  it('measure how soon a stream begins, and how fast its model is', async () => {
    const [first, second] = all;
    first?.upstream.always({
      usage: { prompt: 12, completion: 60 },
      pieces: Array(60).fill(' a'),
      everyMs: 1,
    });
    const { status } = (await first?.stream({ model: 'stub/plain' })) ?? {};
    expect(status).toBe(200);
    await learn();
    const record = recordIn(routeOf(await ask(second, AUTO)), 'plain');
    expect(record?.first_token_ms).toBeGreaterThan(0);
    expect(record?.tokens_per_second).toBeGreaterThan(0);
  });

  it('choose by the measured time to the first token, in another service too', async () => {
    const [first, second] = all;
    const latencies = { ...AUTO, provider: { only: ['stub'], sort: 'latency' } };
    const begins = async (model: string, ms: number) => {
      first?.upstream.always({ fault: { kind: 'slow_first_byte', ms } });
      expect((await first?.stream({ model: `stub/${model}` }))?.status).toBe(200);
    };
    await begins('thinker', 2_000);
    for (let call = 0; call < 3; call += 1) await begins('plain', 0);
    await learn();
    const route = routeOf(await ask(second, latencies));
    expect(route.outcome.model).toBe('stub/plain');
    expect(recordIn(route, 'thinker')?.first_token_ms).toBeGreaterThanOrEqual(1_900);
    expect(replay(route as unknown as JsonObject).same).toBe(true);
  });

  it('measure times by kind of prompt, in another service too', async () => {
    const [first, second] = all;
    const json = { response_format: { type: 'json_object' } };
    first?.upstream.always({ fault: { kind: 'slow_first_byte', ms: 1_500 } });
    for (let call = 0; call < 3; call += 1)
      expect((await first?.stream({ model: 'stub/plain', ...json }))?.status).toBe(200);
    await learn();
    const [ofJson, ofOthers] = [
      routeOf(await ask(second, { ...AUTO, ...json })),
      routeOf(await ask(second, AUTO)),
    ];
    const begins = (route: RouteExplanation) => recordIn(route, 'plain')?.first_token_ms ?? 0;
    expect(begins(ofJson)).toBeGreaterThan(1.2 * begins(ofOthers));
    expect(ofJson.inputs.learned).not.toBe(ofOthers.inputs.learned);
    for (const route of [ofJson, ofOthers]) expect(replay(route as unknown as JsonObject).same).toBe(true);
  });

  it('learn no length from an answer that its limit cut', async () => {
    all[0]?.upstream.always(SHORT);
    const expected = async () => recordIn(routeOf(await ask(all[2], AUTO)), 'thinker')?.expected_output;
    const before = await expected();
    for (let call = 0; call < 8; call += 1) await ask(all[0], { ...THINKER, max_completion_tokens: 8 });
    await learn();
    expect(await expected()).toBe(before);
  });

  it('know it still after a restart', async () => {
    const first = all[0]?.service;
    await first?.restart();
    const reply = await first?.post(CHAT, { ...AUTO, messages, svc: { explain: true } });
    if (reply === undefined) throw new Error('There are three services.');
    expect(recordIn(routeOf(reply), 'thinker')?.expected_output).toBeGreaterThan(4_000);
  });
});
