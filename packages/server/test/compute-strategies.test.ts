import { replay } from '@tallystick/inference';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messages, type Routed, startRouted, svcOf } from './compute.ts';
import { apiKey, toReply } from './service.ts';

const SMALL = 'openai/text-embedding-3-small';
const LARGE = 'openai/text-embedding-3-large';

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted({ explain: true });
});
afterAll(() => routed.close());

interface Routing {
  readonly inputs: {
    readonly strategy?: { readonly sort: string; readonly budget?: { readonly spent: string } };
    readonly cost_quality: number;
  };
  readonly outcome: { readonly why: string; readonly scores: readonly Score[] };
}

interface Score {
  readonly model: string;
  readonly excluded: string | null;
  readonly expected_cost: string | null;
}

async function answered(provider: object, rest: object = {}) {
  const svc = svcOf(await routed.chat({ model: 'auto', provider: { ...provider }, ...rest }));
  const routing = svc.routing as unknown as Routing;
  const costs = routing.outcome.scores.flatMap(({ model, expected_cost }) =>
    expected_cost === null ? [] : [{ model, cost: BigInt(expected_cost) }],
  );
  return { svc, routing, costs: costs.toSorted((a, b) => Number(a.cost - b.cost)) };
}

describe('a call', () => {
  it.each(['/v1/compute/chat/completions', '/v1/compute/responses', '/v1/compute/messages'])(
    'of %s is sorted by what it asks for',
    async (path) => {
      const provider = { sort: 'price' };
      const body = { messages, input: 'Say it.', max_tokens: 20, provider, svc: { explain: true } };
      const { input, messages: said, max_tokens, ...rest } = body;
      const asked = path.endsWith('responses') ? { input, ...rest } : { messages: said, max_tokens, ...rest };
      const { status, json, text } = await toReply(await routed.post(path, asked));
      expect(status, text).toBe(200);
      const { svc } = json as unknown as { svc: { routing: Routing } };
      expect(svc.routing.inputs.strategy).toEqual({ sort: 'price' });
    },
  );

  it('goes to the cheapest, and with a cap to none that is expected to cost more', async () => {
    const { svc, routing, costs } = await answered({ sort: 'price' });
    expect(routing.outcome.why).toBe('strategy');
    expect(costs.find(({ model }) => model === svc.served.model)?.cost).toBe(costs[0]?.cost);
    const cap = costs[1]?.cost ?? 0n;
    const capped = await answered({ sort: 'quality', max_price: { request: Number(cap) / 1e9 } });
    expect(capped.costs.every(({ cost }) => cost <= cap)).toBe(true);
  });

  it('keeps within what is left of the day', async () => {
    const daily_budget = '0.000000001';
    const first = await answered({ daily_budget });
    expect(first.routing.inputs.strategy).toMatchObject({ sort: 'balanced', budget: { per_day: '1' } });
    const { charge } = first.svc.billing;
    const { routing, costs } = await answered({ daily_budget });
    const before = BigInt(first.routing.inputs.strategy?.budget?.spent ?? -1);
    expect(routing.inputs.strategy?.budget?.spent).toBe(String(before + BigInt(charge.nano)));
    expect(costs.every(({ cost }) => cost === costs[0]?.cost)).toBe(true);
    expect(routing.outcome.scores.map(({ excluded }) => excluded)).toContain('budget');
  });

  it.each([
    [{ sort: 'speed' }, 'provider.sort'],
    [{ daily_budget: '-1' }, 'provider.daily_budget'],
    [{ max_price: { request: 'x' } }, 'provider.max_price.request'],
  ])('is refused with %j', async (provider, field) => {
    const reply = await routed.chat({ model: 'auto', provider });
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ error: { param: field } });
  });
});

describe('an API key', () => {
  it('routes the calls that do not say it themselves', async () => {
    const key = await apiKey(routed.service, 'pro');
    const { apiKeys } = routed.service.services.store;
    const set = { provider: { sort: 'price', daily_budget: '3' }, cost_quality: 2 };
    for await (const { id } of apiKeys.list()) await apiKeys.setRouting(id, JSON.stringify(set));
    const inputsOf = async (body: object) => {
      const { json } = await toReply(
        await routed.post('/v1/compute/estimate', { model: 'auto', messages, ...body }, key),
      );
      return (json as unknown as { routing: Routing }).routing.inputs;
    };
    expect(await inputsOf({})).toMatchObject({
      cost_quality: 2,
      strategy: { sort: 'price', budget: { per_day: '3000000000', spent: '0' } },
    });
    expect(await inputsOf({ cost_quality: 9, provider: { sort: 'quality' } })).toMatchObject({
      cost_quality: 9,
      strategy: { sort: 'quality', budget: { per_day: '3000000000' } },
    });
  });
});

describe('embeddings', () => {
  const embed = async (body: object) =>
    toReply(await routed.post('/v1/compute/embeddings', { input: 'a', ...body }));

  it('come from a model that gives vectors of the length, with a receipt and a route that replays', async () => {
    const reply = await embed({ dimensions: 3072, svc: { explain: true } });
    const svc = svcOf(reply);
    expect(svc).toMatchObject({
      served: { model: LARGE, failed_tries: [] },
      receipt: { call: { model: LARGE, requested_model: 'auto' } },
      compression: { applied: false, reason: expect.any(String) as unknown },
    });
    expect(replay(svc.routing)).toMatchObject({ same: true, outcome: { model: LARGE } });
    expect(routed.upstream.requests.at(-1)?.body).toEqual({
      input: 'a',
      dimensions: 3072,
      model: LARGE.split('/')[1],
    });
  });

  it('come from another model of the same length where the first fails, but not where it is named', async () => {
    routed.upstream.play({ fault: { kind: 'status', status: 401 } });
    const { served } = svcOf(await embed({ dimensions: 1024, provider: { only: ['openai'] } }));
    expect(served).toMatchObject({ model: LARGE, failed_tries: [{ model: SMALL, failed: 'auth' }] });
    routed.upstream.play({ fault: { kind: 'status', status: 401 } });
    const asked = routed.upstream.requests.length;
    expect((await embed({ model: LARGE })).status).not.toBe(200);
    expect(routed.upstream.requests).toHaveLength(asked + 1);
  });

  it('of a length that no model gives are refused', async () => {
    const { status, json } = await embed({ dimensions: 5000 });
    expect([status, json]).toEqual([400, expect.objectContaining({ code: 'invalid_request' })]);
  });
});
