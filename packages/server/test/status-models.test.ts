import { type JsonObject, parseJson, readStatus, type StatusReport, utf8 } from '@tallystick/core';
import type { Model } from '@tallystick/inference';
import { afterEach, describe, expect, it } from 'vitest';
import { MODEL, type Routed, startRouted } from './compute.ts';
import { MODELS_FILE } from './models.ts';
import { expectSchema } from './schemas.ts';
import type { TestService } from './service.ts';
import type { Script } from './upstream.ts';

const MINUTE = 60_000;
const BROKEN: Script = { fault: { kind: 'status', status: 500 } };
/** One try a call, so that a call that fails takes no time. */
const env = { TALLY_PROVIDER_RETRIES: '0' };

let routed: Routed;
let service: TestService;
afterEach(() => routed.close());

async function start(more: Record<string, string> = {}): Promise<void> {
  routed = await startRouted({ env: { ...env, ...more } });
  service = routed.service;
}

/** The document of the next minute. The process that makes it has heard of all calls by then, also of those that others served. */
async function next(): Promise<StatusReport> {
  const { catalogue, health } = service.services.compute.pipeline;
  const heard = (): number => {
    const recent = catalogue.models.map((model) => health.recent(model));
    return recent.reduce((sum, { answered, failed }) => sum + answered + failed, 0);
  };
  await expect.poll(heard).toBe(routed.upstream.requests.length);
  service.clock.advance(MINUTE);
  await service.services.status.round();
  const document = parseJson(utf8((await service.get('/status')).text)) as JsonObject;
  expectSchema('status', document);
  return readStatus(document);
}

const lightOf = (list: readonly { id: string; state: string; code: string }[], id: string) => {
  const found = list.find((one) => one.id === id);
  return found && `${found.state} ${found.code}`;
};

function lights({ endpoints, providers, models }: StatusReport) {
  const chat = endpoints.find(({ name }) => name === 'compute_chat');
  return {
    chat: `${chat?.state} ${chat?.code}`,
    openai: lightOf(providers, 'openai'),
    anthropic: lightOf(providers, 'anthropic'),
    model: lightOf(models, MODEL),
  };
}

async function modelInList(id: string): Promise<JsonObject> {
  const { data } = (await service.get('/v1/compute/models')).json as unknown as {
    data: { id: string; svc: { health: JsonObject } }[];
  };
  return data.find((one) => one.id === id)?.svc.health ?? {};
}

describe('providers and models in the status', () => {
  it('are unknown while nobody calls them, and chat with them; the endpoints stay the seventeen', async () => {
    await start();
    const report = await next();
    expect(report.endpoints).toHaveLength(17);
    expect(lights(report)).toEqual({
      chat: 'unknown not_called',
      openai: 'unknown not_called',
      anthropic: 'unknown not_called',
      model: 'unknown not_called',
    });
    expect(routed.upstream.requests).toHaveLength(0);
  });

  it('are up once a model answered, and red in the next document after a provider fails every call', async () => {
    await start();
    await routed.chat();
    const well = await next();
    expect(lights(well)).toMatchObject({ chat: 'up ok', openai: 'up ok', model: 'up ok' });
    routed.upstream.always(BROKEN);
    for (let call = 0; call < 3; call += 1) await routed.chat();
    const broken = await next();
    expect(lights(broken)).toEqual({
      chat: 'down no_model_answers',
      openai: 'down server',
      anthropic: 'unknown not_called',
      model: 'down server',
    });
    expect(await modelInList(MODEL)).toEqual({ state: 'down', code: 'server' });
    const [before, after] = [well, broken].map(({ providers }) =>
      providers.find(({ id }) => id === 'openai'),
    );
    expect(Date.parse(after?.since ?? '') - Date.parse(before?.since ?? '')).toBe(MINUTE);
    const later = await next();
    expect(later.providers.find(({ id }) => id === 'openai')).toEqual(after);
  });

  it('show a provider that fails beside one that answers, and chat as degraded', async () => {
    await start();
    routed.upstream.always(({ path }) => (path === '/v1/messages' ? {} : BROKEN));
    const claude = service.services.compute.pipeline.catalogue.models.find(
      ({ provider }) => provider === 'anthropic',
    );
    await routed.chat({ model: claude?.id ?? '' });
    await routed.chat();
    expect(lights(await next())).toMatchObject({
      chat: 'degraded provider_down',
      openai: 'down server',
      anthropic: 'up ok',
    });
  });

  it('show a model that its provider has no more, here and in the list of models', async () => {
    await start();
    routed.upstream.always(({ body }) =>
      body['model'] === 'gpt-4o-mini' ? { fault: { kind: 'status', status: 404 } } : {},
    );
    await routed.chat({ model: 'auto', provider: { order: [MODEL], only: ['openai'] } });
    const { catalogue, health } = service.services.compute.pipeline;
    const model = catalogue.models.find(({ id }) => id === MODEL) as Model;
    await expect.poll(() => health.rest(model)?.gone).toBe(true);
    expect(lights(await next())).toMatchObject({
      chat: 'up ok',
      openai: 'degraded model_gone',
      model: 'down model_gone',
    });
    expect(await modelInList(MODEL)).toEqual({ state: 'down', code: 'model_gone' });
  });

  it('are asked by the service itself only where the operator allows it', async () => {
    await start({ TALLY_STATUS_PROBES: 'providers' });
    const well = await next();
    expect(lights(well)).toMatchObject({ chat: 'up ok', openai: 'up ok', anthropic: 'up ok' });
    expect(routed.upstream.requests.map(({ path }) => path).toSorted()).toEqual([
      '/v1/chat/completions',
      '/v1/messages',
    ]);
    // The calls of this minute say enough.
    await next();
    expect(routed.upstream.requests).toHaveLength(2);
    expect(await service.services.store.ledger.checkBalanced()).toMatchObject({ sum: 0n });
    expect((await routed.balance('development')).balance).toBe(0n);
  });

  it('are judged by the calls of every process', async () => {
    await start();
    const { dataDir, keyring } = service.config;
    const other = await startRouted({
      env: {
        ...env,
        TALLY_DATA_DIR: dataDir,
        TALLY_KEYRING: keyring.path,
        OPENAI_BASE_URL: `${routed.upstream.url}/v1`,
        TALLY_CONFIG: MODELS_FILE,
      },
    });
    try {
      await other.chat();
      await expect.poll(() => modelInList(MODEL)).toEqual({ state: 'up', code: 'ok' });
      expect(lights(await next())).toMatchObject({ chat: 'up ok', openai: 'up ok', model: 'up ok' });
    } finally {
      await other.close();
    }
  });

  it('are down where the service asks and is not answered', async () => {
    await start({ TALLY_STATUS_PROBES: 'providers' });
    routed.upstream.always(BROKEN);
    expect(lights(await next())).toMatchObject({
      chat: 'down no_model_answers',
      openai: 'down server',
      anthropic: 'down server',
    });
  });
});
