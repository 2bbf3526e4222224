import { describe, expect, it } from 'vitest';
import type { Catalogue, Dimensions } from '../catalogue/catalogue.ts';
import { openCatalogue } from '../catalogue/open.ts';
import { type EmbeddingRoute, routeEmbedding } from './embedding.ts';
import { replay } from './replay.ts';

/** USDC for 1,000,000 tokens, and the lengths of the vectors. */
type Entry = readonly [name: string, usdc: string, dimensions: Partial<Dimensions> | null];

const ENTRIES: readonly Entry[] = [
  ['long', '0.13', { default: 3072, shorter: 'any' }],
  ['short', '0.02', { default: 1536, shorter: 'any' }],
  ['fixed', '0.1', { default: 1536 }],
  ['listed', '0.05', { default: 1024, shorter: [256, 512] }],
  ['unknown', '0.01', null],
];

function catalogueOf(entries: readonly Entry[]): Catalogue {
  return openCatalogue(
    {},
    {
      providers: [{ name: 'up', kind: 'openai', base_url: 'http://127.0.0.1:1/v1' }],
      models: entries.map(([name, input, dimensions]) => ({
        id: `up/${name}`,
        kind: 'embedding',
        context: 8_191,
        max_output: 1,
        abilities: [],
        price: { input, output: '0' },
        prior: { general: 0.5 },
        ...(dimensions && { dimensions: { default: 0, ...dimensions } }),
      })) as never,
    },
  ).catalogue;
}

function route(changes: Partial<EmbeddingRoute> = {}, resting: readonly string[] = []) {
  const asked = { model: 'auto', dimensions: null, promptTokens: 100_000, preferences: {}, ...changes };
  const decision = routeEmbedding(
    catalogueOf(ENTRIES),
    {
      rest: ({ upstreamModel }) => (resting.includes(upstreamModel) ? { gone: false, remainingMs: 9 } : null),
    },
    asked,
  );
  expect(replay(JSON.parse(JSON.stringify(decision.explanation)))).toMatchObject({ same: true });
  return decision;
}

function names(changes: Partial<EmbeddingRoute> = {}, resting: readonly string[] = []): string {
  const { model, fallbacks } = route(changes, resting);
  return [model, ...fallbacks].map(({ upstreamModel }) => upstreamModel).join(' ');
}

describe('auto', () => {
  it.each([
    [null, 'unknown'],
    [1536, 'short fixed long'],
    [512, 'short listed long'],
    [700, 'short long'],
    [1024, 'short listed long'],
    [3072, 'long'],
  ])('for vectors of %s numbers tries %s, the cheapest first', (dimensions, expected) => {
    expect(names({ dimensions })).toBe(expected);
  });

  it('falls back only to vectors of one length', () => {
    expect(names({}, ['unknown'])).toBe('short fixed');
    expect(names({}, ['unknown', 'short'])).toBe('listed');
    expect(names({ dimensions: 512 }, ['short'])).toBe('listed long');
  });

  it('heeds preferences as other calls do, and says why', () => {
    expect(names({ dimensions: 1536, preferences: { order: ['up/long'] } })).toBe('long short fixed');
    expect(names({ dimensions: 1536, preferences: { ignore: ['up/short'] } })).toBe('fixed long');
    const { inputs, outcome } = route({ dimensions: 3072 }).explanation;
    expect([inputs.dimensions, inputs.strategy, outcome.why]).toEqual([
      3072,
      { sort: 'price' },
      'only_candidate',
    ]);
    expect(outcome.scores).toContainEqual(
      expect.objectContaining({ model: 'up/fixed', excluded: 'dimensions' }),
    );
    expect(outcome.scores).toContainEqual(
      expect.objectContaining({ model: 'local/embed-512', excluded: 'built_in' }),
    );
  });

  it('is refused where no model gives such vectors', () => {
    expect(() => route({ dimensions: 4096 })).toThrow(
      expect.objectContaining({ code: 'invalid_request', field: 'dimensions' }),
    );
  });
});

describe('a named model', () => {
  it('is never replaced by another, and asked for what the catalogue does not know', () => {
    expect(names({ model: 'up/fixed' })).toBe('fixed');
    expect(names({ model: 'unknown', dimensions: 77 })).toBe('unknown');
    expect(() => route({ model: 'up/short' }, ['short'])).toThrow(
      expect.objectContaining({ code: 'no_model_available' }),
    );
  });

  it.each([
    [{ model: 'up/listed', dimensions: 300 }, 'invalid_request', 'dimensions'],
    [{ model: 'up/other' }, 'model_not_found', 'model'],
    [{ model: 'local/extract-1' }, 'model_not_found', 'model'],
  ])('%j is refused', (asked, code, field) => {
    expect(() => route(asked)).toThrow(expect.objectContaining({ code, field }));
  });
});
