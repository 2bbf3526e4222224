import { type JsonObject, TallyError } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ABILITIES, type Ability, CARRIED, createCatalogue, type Model } from '../catalogue/catalogue.ts';
import { DOMAINS, type Domain } from '../catalogue/domains.ts';
import { armOf } from '../experiments/compare.ts';
import { decide } from './decide.ts';
import { replay } from './replay.ts';
import { createRouter, type RouteRequest } from './router.ts';

const FULL: readonly Ability[] = ABILITIES;

function model(id: string, changes: Partial<Model> & { ability?: number; dollars?: bigint } = {}): Model {
  const { ability = 0.7, dollars = 1n, ...rest } = changes;
  const price = dollars * 1_000_000_000n;
  return {
    id,
    provider: id.slice(0, id.indexOf('/')),
    builtIn: false,
    upstreamModel: id.slice(id.indexOf('/') + 1),
    context: 100_000,
    maxOutput: 4_000,
    abilities: new Set(FULL),
    carries: new Set(CARRIED),
    kind: 'chat',
    price: {
      inputPerMTok: price,
      outputPerMTok: 3n * price,
      cacheReadPerMTok: price,
      cacheWritePerMTok: price,
    },
    prior: Object.fromEntries(DOMAINS.map((domain) => [domain, ability])) as Record<Domain, number>,
    hardware: null,
    region: null,
    trainingRegion: null,
    attestation: null,
    tokenizer: 'estimate',
    ...rest,
  };
}

const small = model('a/small', { ability: 0.7, dollars: 0n });
const middle = model('b/middle', { ability: 0.8, dollars: 2n });
const large = model('c/large', { ability: 0.92, dollars: 40n });
const QUESTION = 'Which of these is a prime number?\nA. 4\nB. 6\nC. 7\nD. 9\nAnswer:';

function request(changes: Partial<RouteRequest> = {}, body: RouteRequest['body'] = {}): RouteRequest {
  return {
    body: { model: 'auto', messages: [{ role: 'user', content: QUESTION }], ...body },
    promptTokens: 1_000,
    maxOutputTokens: 0,
    preferences: {},
    session: null,
    ...changes,
  };
}

function holding(part: JsonObject): RouteRequest {
  return request({}, { messages: [{ role: 'user', content: [part] }] });
}

function routerOf(
  models: readonly Model[],
  resting: readonly string[] = [],
  limited: readonly string[] = [],
) {
  return createRouter(createCatalogue(models), {
    limited: ({ upstreamModel }) => limited.includes(upstreamModel),
    rest: ({ upstreamModel }) =>
      resting.includes(upstreamModel) ? { gone: false, remainingMs: 1_500 } : null,
  });
}

const three = [small, middle, large];

function refusal(work: () => unknown): TallyError {
  try {
    work();
  } catch (error) {
    if (error instanceof TallyError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('the choice', () => {
  it('goes from the cheapest to the best as quality counts for more', () => {
    const router = routerOf(three);
    expect(router.route(request({ costQuality: 0 })).model.id).toBe('a/small');
    expect(router.route(request({ costQuality: 10 })).model.id).toBe('c/large');
  });

  it('never gives an explicit model to another', () => {
    const { model: chosen, fallbacks } = routerOf(three).route(request({}, { model: 'middle' }));
    expect(chosen).toBe(middle);
    expect(fallbacks).toEqual([]);
    expect(refusal(() => routerOf(three, ['middle']).route(request({}, { model: 'b/middle' }))).code).toBe(
      'no_model_available',
    );
  });

  it('keeps a session with its model until that one rests', () => {
    const resting: string[] = [];
    const router = routerOf(three, resting);
    const route = (costQuality: number, session: string | null) =>
      router.route(request({ costQuality, session })).model.id;
    expect(route(0, 'x')).toBe('a/small');
    expect(route(10, 'x')).toBe('a/small');
    expect(route(10, 'y')).toBe('c/large');
    resting.push('small');
    expect(route(10, 'x')).toBe('c/large');
  });

  it('passes over models of which no calls are left, where another can serve', () => {
    const best = request({ costQuality: 10 });
    const { model: chosen, fallbacks, explanation } = routerOf(three, [], ['large']).route(best);
    expect([chosen, ...fallbacks].map(({ id }) => id)).toEqual(['b/middle', 'a/small']);
    expect(explanation.outcome.scores).toContainEqual(
      expect.objectContaining({ model: 'c/large', excluded: 'rate_limit' }),
    );
    expect(replay(JSON.parse(JSON.stringify(explanation)) as JsonObject).same).toBe(true);
    expect(routerOf(three, ['middle', 'small'], ['large']).route(best).model.id).toBe('c/large');
    expect(routerOf(three, [], ['large', 'middle', 'small']).route(best).model.id).toBe('c/large');
    const named = request({}, { model: 'c/large' });
    expect(routerOf(three, [], ['large']).route(named).model.id).toBe('c/large');
  });

  it('tries the providers that the caller orders first', () => {
    const { model: chosen, fallbacks } = routerOf(three).route(
      request({ costQuality: 10, preferences: { order: ['b', 'a/small'] } }),
    );
    expect([chosen, ...fallbacks].map(({ id }) => id)).toEqual(['b/middle', 'a/small', 'c/large']);
  });

  it('stays with the best single model where another is hardly better', () => {
    const near = model('d/near', { ability: 0.805, dollars: 3n });
    const poem = { messages: [{ role: 'user', content: 'Write a poem about the sea.' }] };
    const { outcome } = routerOf([middle, near]).route(request({ costQuality: 10 }, poem)).explanation;
    expect(outcome).toMatchObject({ model: 'b/middle', best_single: 'b/middle', why: 'low_margin' });
  });

  it('sends a greeting to the cheapest model, and conditions that bind each other to the dearest', () => {
    const tier = (id: string, ability: number, dollars: bigint): Model => model(id, { ability, dollars });
    const router = routerOf([
      tier('a/small', 0.6, 0n),
      tier('b/middle', 0.75, 1n),
      tier('c/large', 0.88, 5n),
    ]);
    const chosen = (content: string): string =>
      router.route(request({ promptTokens: 100 }, { messages: [{ role: 'user', content }] })).model.id;
    const bound =
      'Design a lock-free queue, justify each memory order, prove that it is linearizable, and show a counterexample without the fences; it must never allocate, unless the queue is full, and then only once.';
    expect([chosen('Hi!'), chosen(bound)]).toEqual(['a/small', 'c/large']);
  });

  it('leaves out fallbacks that answer far worse', () => {
    const poor = model('e/poor', { ability: 0.1, dollars: 0n });
    const { fallbacks } = routerOf([...three, poor]).route(request({ costQuality: 10 }));
    expect(fallbacks.map(({ id }) => id)).not.toContain('e/poor');
  });
});

describe('refusals', () => {
  it.each([
    ['an unknown model', request({}, { model: 'gpt-9' }), 'model_not_found', 'model'],
    ['tools', request({}, { tools: [{ type: 'function' }] }), 'invalid_request', 'tools'],
    [
      'images',
      request(
        {},
        { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      ),
      'invalid_request',
      'messages',
    ],
    [
      'JSON mode',
      request({}, { response_format: { type: 'json_object' } }),
      'invalid_request',
      'response_format',
    ],
    ['log probabilities', request({}, { logprobs: true }), 'invalid_request', 'logprobs'],
    ['choices', request({}, { n: 2 }), 'invalid_request', 'n'],
    ['files', holding({ type: 'file', file: {} }), 'invalid_request', 'messages'],
    ['sound', holding({ type: 'input_audio', input_audio: {} }), 'invalid_request', 'messages'],
    [
      'a tool that must be called',
      request({}, { tool_choice: 'required' }),
      'invalid_request',
      'tool_choice',
    ],
    ['web search', request({}, { web_search_options: {} }), 'invalid_request', 'tools'],
    [
      'what only the caller’s protocol has',
      request({ nativeOnly: { protocol: 'messages', member: 'tools[0].type' } }),
      'invalid_request',
      'tools[0].type',
    ],
    ['providers', request({ preferences: { only: ['z'] } }), 'invalid_request', 'provider'],
    [
      'a price cap',
      request({ preferences: { maxPrice: { prompt: 1n } } }),
      'invalid_request',
      'provider.max_price',
    ],
    ['a long prompt', request({ promptTokens: 100_001 }), 'context_too_long', 'messages'],
  ])('of %s name the field', (_, refused, code, field) => {
    const bare = model('a/bare', { abilities: new Set(['stream'] as const), carries: new Set() });
    expect(refusal(() => routerOf([bare]).route(refused))).toMatchObject({ code, field });
  });

  it('are not of a provider that can carry it, and the decision replays', () => {
    const speaking = model('b/speaking', { carries: new Set(['responses', 'choices'] as const) });
    const others = [model('a/other', { ability: 0.99, carries: new Set() }), speaking];
    const asked = request({ nativeOnly: { protocol: 'responses', member: 'include' } }, { n: 2 });
    const { model: chosen, fallbacks, explanation } = routerOf(others).route(asked);
    expect([chosen.id, fallbacks]).toEqual(['b/speaking', []]);
    expect(explanation.inputs).toMatchObject({ needs: ['responses', 'choices'], native_member: 'include' });
    expect(explanation.outcome.scores.find(({ excluded }) => excluded !== null)).toMatchObject({
      model: 'a/other',
      excluded: 'responses',
    });
    expect(replay(JSON.parse(JSON.stringify(explanation)))).toMatchObject({ same: true });
  });

  it('of a long prompt give the sizes', () => {
    const error = refusal(() =>
      routerOf(three).route(request({ promptTokens: 99_000, maxOutputTokens: 2_000 })),
    );
    expect(error.message).toContain('99000');
    expect(error.message).toContain('2000');
    expect(error.message).toContain('100000');
  });
});

const models = fc
  .uniqueArray(
    fc.record({
      name: fc.integer({ min: 0, max: 30 }),
      ability: fc.integer({ min: 0, max: 100 }).map((value) => value / 100),
      dollars: fc.bigInt({ min: 0n, max: 60n }),
      context: fc.integer({ min: 100, max: 5_000 }),
      abilities: fc.subarray([...FULL]),
    }),
    { minLength: 1, maxLength: 8, selector: ({ name }) => name },
  )
  .map((some) =>
    some.map(({ name, abilities, ...rest }) =>
      model(`p${name % 4}/m${name}`, { ...rest, abilities: new Set(abilities) }),
    ),
  );
const prompts = fc.constantFrom(
  QUESTION,
  'Write a poem about the sea.',
  'Tom has 3 bags with 12 apples in each bag. He eats 5 apples a day. How many apples are left after 4 days?',
  '',
);
const requests = fc.record({
  promptTokens: fc.integer({ min: 0, max: 4_000 }),
  maxOutputTokens: fc.integer({ min: 0, max: 2_000 }),
  costQuality: fc.integer({ min: 0, max: 100 }).map((value) => value / 10),
  cap: fc.option(fc.bigInt({ min: 0n, max: 60_000_000_000n }), { nil: null }),
  ignore: fc.subarray(['p0', 'p1']),
  tools: fc.boolean(),
  resting: fc.subarray(['m1', 'm2', 'm3', 'm5', 'm8']),
  prompt: prompts,
});

type Asked = typeof requests extends fc.Arbitrary<infer T> ? T : never;

function routed(some: readonly Model[], asked: Asked, costQuality = asked.costQuality) {
  const { promptTokens, maxOutputTokens, cap, ignore, tools, resting, prompt } = asked;
  const body = {
    messages: [{ role: 'user', content: prompt }],
    ...(tools && { tools: [{ type: 'function' }] }),
  };
  const preferences = { ignore, ...(cap !== null && { maxPrice: { prompt: cap } }) };
  try {
    return routerOf(some, resting).route(
      request({ promptTokens, maxOutputTokens, costQuality, preferences }, body),
    );
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}

describe('for any catalogue and request', () => {
  it('no filter is violated, by the choice or a fallback', () => {
    const passes = (
      one: Model,
      { promptTokens, maxOutputTokens, tools, ignore, resting, cap }: Asked,
    ): boolean =>
      promptTokens + Math.min(one.maxOutput, maxOutputTokens) <= one.context &&
      (!tools || one.abilities.has('tools')) &&
      !ignore.includes(one.provider) &&
      !resting.includes(one.upstreamModel) &&
      (cap === null || one.price.inputPerMTok <= cap);
    fc.assert(
      fc.property(models, requests, (some, asked) => {
        const decision = routed(some, asked);
        const taken = decision === null ? [] : [decision.model, ...decision.fallbacks];
        expect(taken.filter((one) => !passes(one, asked))).toEqual([]);
      }),
    );
  });

  it('a request that some model passes every filter for is served', () => {
    fc.assert(
      fc.property(models, requests, (some, asked) => {
        const free: Asked = { ...asked, cap: null, ignore: [], tools: false };
        const able = some.some(
          ({ context, maxOutput, upstreamModel }) =>
            free.promptTokens + Math.min(maxOutput, free.maxOutputTokens) <= context &&
            !free.resting.includes(upstreamModel),
        );
        expect(routed(some, free) !== null).toBe(able);
      }),
    );
  });

  it('a larger cost_quality never leads to a cheaper model', () => {
    const costOf = (decision: NonNullable<ReturnType<typeof routed>>): bigint => {
      const { outcome } = decision.explanation;
      return BigInt(outcome.scores.find((score) => score.model === outcome.model)?.expected_cost ?? -1);
    };
    fc.assert(
      fc.property(
        models,
        requests,
        fc.integer({ min: 0, max: 100 }).map((value) => value / 10),
        (some, asked, other) => {
          const [low, high] = [Math.min(asked.costQuality, other), Math.max(asked.costQuality, other)];
          const [frugal, generous] = [routed(some, asked, low), routed(some, asked, high)];
          return frugal === null || generous === null || costOf(generous) >= costOf(frugal);
        },
      ),
    );
  });

  it('the best single model is the same at any cost_quality', () => {
    const bestOf = (decision: ReturnType<typeof routed>): string | null =>
      decision?.explanation.outcome.best_single ?? null;
    fc.assert(
      fc.property(
        models,
        requests,
        (some, asked) => bestOf(routed(some, asked, 0)) === bestOf(routed(some, asked, 10)),
      ),
    );
  });

  it('the decision replays from its JSON, and another outcome is told', () => {
    fc.assert(
      fc.property(models, requests, (some, asked) => {
        const decision = routed(some, asked);
        if (decision === null) return;
        const explanation = JSON.parse(JSON.stringify(decision.explanation));
        expect(replay(explanation)).toMatchObject({ same: true, differences: [] });
        expect(JSON.stringify(explanation)).not.toContain(asked.prompt || 'apples');
        explanation.outcome.model = 'other/model';
        expect(replay(explanation).differences).toEqual(['model']);
      }),
    );
  });

  it('equal inputs give equal outcomes, in whatever order the candidates are', () => {
    fc.assert(
      fc.property(models, requests, (some, asked) => {
        const decision = routed(some, asked);
        if (decision === null) return;
        const { inputs, outcome } = decision.explanation;
        const turned = decide({ ...inputs, candidates: inputs.candidates.toReversed() });
        expect({ ...turned, scores: null }).toEqual({ ...outcome, scores: null });
      }),
    );
  });
});

describe('the choice of a caller whose ratings steer it', () => {
  const rated = fc.record({ count: fc.nat(500), mean: fc.nat(100) });
  const drawnFor = (seed: string, ratings: readonly { count: number; mean: number }[]) => ({
    comparison: null,
    bandit: {
      seed,
      ratings: new Map(
        three.map(({ id }, index) => {
          const { count = 0, mean = 0 } = ratings[index] ?? {};
          return [id, { count, score: count * mean }];
        }),
      ),
    },
  });
  const seeds = fc.stringMatching(/^[0-9a-f]{32}$/);

  it('replays from its seed and the ratings, and never gets cheaper for more quality', () => {
    fc.assert(
      fc.property(seeds, fc.array(rated, { minLength: 3, maxLength: 3 }), (seed, ratings) => {
        const drawn = drawnFor(seed, ratings);
        const chosen = [0, 3, 5, 8, 10].map((costQuality) => {
          const { model: taken, explanation } = routerOf(three).route(request({ costQuality, drawn }));
          const again = replay(JSON.parse(JSON.stringify(explanation)) as JsonObject);
          expect(again.differences).toEqual([]);
          expect(again.outcome.scores).toEqual(explanation.outcome.scores);
          return three.indexOf(taken);
        });
        expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
      }),
      { numRuns: 60 },
    );
  });

  it('leaves a model that it rates badly for one that it rates well', () => {
    const good = { count: 400, mean: 100 };
    const bad = { count: 400, mean: 0 };
    const { model: taken } = routerOf(three).route(
      request({ costQuality: 10, drawn: drawnFor('0'.repeat(32), [bad, good, bad]) }),
    );
    expect(taken).toBe(middle);
  });

  it('tries others now and then while there are no ratings', () => {
    const taken = Array.from({ length: 40 }, (_, index) => {
      const drawn = drawnFor(index.toString(16).padStart(32, '0'), []);
      return routerOf(three).route(request({ costQuality: 10, drawn })).model.id;
    });
    expect(new Set(taken).size).toBe(3);
  });
});

describe('a call in a comparison', () => {
  it('does not replay with another arm', () => {
    const seed = 'ab'.repeat(16);
    const drawn = {
      bandit: null,
      comparison: { name: 'x', share: 0.5, seed, arm: armOf({ name: 'x', share: 0.5, seed }) },
    };
    const { explanation } = routerOf(three).route(request({ drawn }));
    const recorded = JSON.parse(JSON.stringify(explanation)) as JsonObject & { inputs: JsonObject };
    expect(replay(recorded).same).toBe(true);
    const arm = drawn.comparison.arm === 'a' ? 'b' : 'a';
    const forged = { ...recorded, inputs: { ...recorded.inputs, comparison: { ...drawn.comparison, arm } } };
    expect(refusal(() => replay(forged)).field).toBe('inputs.comparison.arm');
  });
});
