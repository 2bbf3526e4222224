import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalogue } from '../catalogue/catalogue.ts';
import { openCatalogue } from '../catalogue/open.ts';
import type { Learned } from '../learning/learned.ts';
import { replay } from './replay.ts';
import { createRouter, type ProviderPreferences, type RouteDecision } from './router.ts';
import { SORTS } from './sort.ts';
import { dayLimit } from './strategy.ts';

/** Quality, USDC for 1,000,000 tokens of prompt and answer, median milliseconds to the first token, tokens a second. */
type Entry = readonly [
  name: string,
  prior: number,
  usdc: number,
  firstMs: number | null,
  rate: number | null,
];

const THREE: readonly Entry[] = [
  ['small', 0.6, 1, 400, 50],
  ['middle', 0.75, 4, 900, 200],
  ['large', 0.9, 20, 200, 20],
];

interface Asked {
  readonly preferences?: ProviderPreferences;
  readonly spentToday?: bigint;
  readonly costQuality?: number;
  readonly model?: string;
}

function route(
  entries: readonly Entry[],
  { model = 'auto', preferences = {}, ...rest }: Asked,
): RouteDecision {
  const { catalogue } = openCatalogue(
    {},
    {
      providers: entries.map(([name]) => ({ name, kind: 'openai', base_url: 'http://127.0.0.1:1/v1' })),
      models: entries.map(([name, general, usdc]) => ({
        id: `${name}/m`,
        context: 100_000,
        max_output: 4_000,
        abilities: ['stream'],
        price: { input: String(usdc), output: String(usdc) },
        prior: { general },
      })),
    },
  );
  const measured = (id: string): Entry | undefined => entries.find(([name]) => `${name}/m` === id);
  const learned: Learned = {
    expectedOutput: () => null,
    firstTokenMs: (id) => measured(id)?.[3] ?? null,
    tokensPerSecond: (id) => measured(id)?.[4] ?? null,
  };
  return createRouter(createCatalogue(catalogue.models.filter(({ builtIn }) => !builtIn)), {
    rest: () => null,
    learned: () => learned,
  }).route({
    body: { model, messages: [{ role: 'user', content: 'Write a poem about the sea.' }] },
    promptTokens: 744,
    maxOutputTokens: 0,
    session: null,
    preferences,
    ...rest,
  });
}

/** The order in which models are tried, by their providers. */
function order(asked: Asked, entries = THREE): string {
  const { model, fallbacks } = route(entries, asked);
  return [model, ...fallbacks].map(({ provider }) => provider).join(' ');
}

const usdc = (amount: number): bigint => BigInt(Math.round(amount * 1e9));

describe('a sort puts first', () => {
  it.each([
    ['price', 'small'],
    ['quality', 'large'],
    ['latency', 'large'],
    ['throughput', 'middle'],
  ] as const)('%s: %s', (sort, expected) => {
    expect(order({ preferences: { sort } }).split(' ')[0]).toBe(expected);
    expect(route(THREE, { preferences: { sort } }).explanation).toMatchObject({
      inputs: { strategy: { sort } },
      outcome: { why: 'strategy' },
    });
  });

  it('and tries the others in the same order', () => {
    expect(order({ preferences: { sort: 'price' } })).toBe('small middle large');
  });

  it('nothing but what the balance of quality and cost says, where it is balanced', () => {
    const { explanation } = route(THREE, { preferences: { sort: 'balanced' } });
    expect(explanation.inputs).not.toHaveProperty('strategy');
    expect(explanation).toEqual(route(THREE, {}).explanation);
  });

  it('a model that was not measured beside the fastest, so that it is measured where it is the better', () => {
    const [small, middle, large] = THREE as [Entry, Entry, Entry];
    const unmeasured: Entry = [large[0], large[1], large[2], null, null];
    const fast = (costQuality: number): string | undefined =>
      order({ preferences: { sort: 'latency' }, costQuality }, [small, middle, unmeasured]).split(' ')[0];
    expect([fast(10), fast(0)]).toEqual(['large', 'small']);
    expect(order({ preferences: { sort: 'latency', order: ['middle'] } }).split(' ')[0]).toBe('middle');
  });
});

describe('the best under a price', () => {
  // 1,000 tokens are expected: 0.001, 0.004 and 0.02 USDC.
  it.each([
    [0.02, 'large'],
    [0.019, 'middle'],
    [0.004, 'middle'],
    [0.001, 'small'],
  ])('%d USDC a call', (most, expected) => {
    const preferences = { sort: 'quality', maxPrice: { request: usdc(most) } } as const;
    expect(order({ preferences }).split(' ')[0]).toBe(expected);
  });

  it('refuses what no model can do for it, and a model that is named', () => {
    const preferences = { maxPrice: { request: usdc(0.0005) } };
    for (const model of ['auto', 'small/m'])
      expect(() => route(THREE, { preferences, model })).toThrow(
        expect.objectContaining({ code: 'invalid_request', field: 'provider.max_price' }),
      );
  });
});

describe('a budget of the day', () => {
  const spend = (share: number, sort: ProviderPreferences['sort'] = 'quality'): string =>
    order({ preferences: { sort, dailyBudget: usdc(10) }, spentToday: usdc(10 * share) });

  it.each([
    [0, 'large'],
    [0.8, 'large'],
    [0.81, 'middle'],
    [0.96, 'middle'],
    [0.97, 'small'],
    [1, 'small'],
    [3, 'small'],
  ])('of which %d is spent', (share, expected) => {
    expect(spend(share).split(' ')[0]).toBe(expected);
  });

  it('leaves the dear models out of the fallbacks too, and says so', () => {
    const { fallbacks, explanation } = route(THREE, {
      preferences: { dailyBudget: usdc(1) },
      spentToday: usdc(0.9),
    });
    expect(fallbacks.map(({ provider }) => provider)).not.toContain('large');
    expect(explanation.inputs.strategy).toEqual({
      sort: 'balanced',
      budget: { per_day: '1000000000', spent: '900000000' },
    });
    expect(explanation.outcome.scores).toContainEqual(
      expect.objectContaining({ model: 'large/m', excluded: 'budget' }),
    );
  });

  it('never takes a named model away', () => {
    const asked = { preferences: { dailyBudget: 0n }, spentToday: usdc(1) };
    expect(route(THREE, { ...asked, model: 'large/m' }).model.id).toBe('large/m');
  });

  it('leaves no call that costs more than what is left, while there is a cheaper one', () => {
    expect(dayLimit({ per_day: '100', spent: '10' }, [5n, 200n])).toBe(90n);
    expect(dayLimit({ per_day: '0', spent: '0' }, [5n, 200n])).toBe(5n);
  });
});

const entries = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      fc.integer({ min: 1, max: 99 }).map((share) => share / 100),
      fc.integer({ min: 0, max: 60 }),
      fc.option(fc.integer({ min: 1, max: 5_000 })),
      fc.option(fc.integer({ min: 1, max: 500 })),
    ),
    { minLength: 1, maxLength: 6, selector: ([name]) => name },
  )
  .map((some): readonly Entry[] => some);
const asked = fc.record({
  sort: fc.constantFrom(...SORTS),
  budget: fc.option(fc.integer({ min: 0, max: 20 })),
  spent: fc.integer({ min: 0, max: 20 }),
});

describe('for any catalogue and strategy', () => {
  it('a larger cost_quality never leads to a cheaper model, and every decision replays', () => {
    const steps = fc.integer({ min: 0, max: 10 });
    fc.assert(
      fc.property(entries, asked, steps, steps, (some, { sort, budget, spent }, one, other) => {
        const decided = [Math.min(one, other), Math.max(one, other)].map((costQuality) => {
          const preferences = { sort, ...(budget !== null && { dailyBudget: usdc(budget / 100) }) };
          const { explanation } = route(some, { preferences, spentToday: usdc(spent / 100), costQuality });
          expect(replay(JSON.parse(JSON.stringify(explanation)))).toMatchObject({ same: true });
          const { scores, model } = explanation.outcome;
          return BigInt(scores.find((score) => score.model === model)?.expected_cost ?? -1);
        });
        expect(decided[1]).toBeGreaterThanOrEqual(decided[0] as bigint);
      }),
      { numRuns: 60 },
    );
  });

  it('more spending never leads to a dearer limit', () => {
    const money = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(money, money, money, fc.array(money, { minLength: 1 }), (day, one, other, costs) => {
        const limit = (spent: bigint) => dayLimit({ per_day: `${day}`, spent: `${spent}` }, costs);
        expect(limit(one + other)).toBeLessThanOrEqual(limit(one));
        expect(costs.some((cost) => cost <= limit(one))).toBe(true);
      }),
    );
  });
});
