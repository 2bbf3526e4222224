import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ABILITIES, CARRIED, createCatalogue, type Model } from '../catalogue/catalogue.ts';
import { DOMAINS, type Domain } from '../catalogue/domains.ts';
import { type Learned, NOTHING_LEARNED } from '../learning/learned.ts';
import { createRouter, type RouteRequest } from './router.ts';

const DAY_MS = 86_400_000;
const TODAY = Date.parse('2026-11-26');
const PRICES = {
  inputPerMTok: 1_000n,
  outputPerMTok: 3_000n,
  cacheReadPerMTok: 1_000n,
  cacheWritePerMTok: 1_000n,
};

const model = (id: string, changes: Partial<Model> = {}): Model => ({
  id,
  provider: 'p',
  builtIn: false,
  upstreamModel: id.slice(2),
  context: 1_000_000,
  maxOutput: 4_000,
  abilities: new Set(ABILITIES),
  carries: new Set(CARRIED),
  kind: 'chat',
  price: PRICES,
  prior: Object.fromEntries(DOMAINS.map((domain, i) => [domain, 0.5 + i / 100])) as Record<Domain, number>,
  hardware: null,
  region: null,
  trainingRegion: null,
  attestation: null,
  tokenizer: 'estimate',
  ...changes,
});

const models = [
  model('p/plain'),
  model('p/long', {
    price: { ...PRICES, tariffs: [{ ...PRICES, inputPerMTok: 2_000n, aboveTokens: 200_000 }] },
  }),
  model('p/ends', { retiresOn: '2026-11-28', carries: new Set(), abilities: new Set(['tools', 'stream']) }),
  model('p/dated', { price: { ...PRICES, source: { page: 'https://p.test/', readOn: '2026-11-01' } } }),
];

const seen = (ms: number): Learned => ({
  ...NOTHING_LEARNED,
  firstTokenMs: (id) => (id === 'p/plain' ? ms : null),
});
const LEARNED = [NOTHING_LEARNED, seen(10), seen(20)];
const TEXTS = [
  'Write a poem about rain.',
  'Prove that the square root of 2 is irrational.',
  'def f(x): return x',
];

const CHOICES = 'A. 4\nB. 6\nC. 7\nD. 9\nAnswer:';
TEXTS.push(`Which of these is a prime number?\n${CHOICES}`, `What does this program print?\n${CHOICES}`);

const START = {
  resting: [] as readonly string[],
  limited: [] as readonly string[],
  day: 0,
  maxPriceAgeDays: 0,
  learned: NOTHING_LEARNED,
  promptTokens: 100,
  text: TEXTS[0] ?? '',
  choices: 1,
  named: 'auto',
  rating: null as number | null,
};
type Step = typeof START;

const anyOf = (names: readonly string[]) => fc.subarray([...names]);
/** One thing changes at a time, so that each must show by itself. */
const change: fc.Arbitrary<Partial<Step>> = fc.oneof(
  fc.record({ resting: anyOf(['plain', 'long']) }),
  fc.record({ limited: anyOf(['plain', 'dated']) }),
  fc.record({ day: fc.nat(4) }),
  fc.record({ maxPriceAgeDays: fc.constantFrom(0, 27) }),
  fc.record({ learned: fc.constantFrom(...LEARNED) }),
  fc.record({ promptTokens: fc.constantFrom(100, 300_000) }),
  fc.record({ text: fc.constantFrom(...TEXTS) }),
  fc.record({ choices: fc.constantFrom(1, 2) }),
  fc.record({ named: fc.constantFrom('auto', 'p/dated') }),
  fc.record({ rating: fc.constantFrom(null, 3, 4) }),
);

it('records each candidate as a router that has just started would', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 20 }), (changes) => {
      let now = START;
      const state = {
        rest: ({ upstreamModel }: { upstreamModel: string }) =>
          now.resting.includes(upstreamModel) ? { gone: false, remainingMs: 1_500 } : null,
        limited: ({ upstreamModel }: Model) => now.limited.includes(upstreamModel),
        learned: () => now.learned,
        upkeep: () => ({ now: TODAY + now.day * DAY_MS, maxPriceAgeDays: now.maxPriceAgeDays }),
      };
      const living = createRouter(createCatalogue(models), state);
      for (const change of changes) {
        now = { ...now, ...change };
        const outcomeOf = (router: typeof living): unknown => {
          try {
            return router.route(requestOf(now)).explanation;
          } catch (error) {
            return String(error);
          }
        };
        expect(outcomeOf(living)).toEqual(outcomeOf(createRouter(createCatalogue(models), state)));
      }
    }),
    { numRuns: 300 },
  );
});

it('gives the same list again while nothing in it changes', () => {
  const router = createRouter(createCatalogue(models), { rest: () => null });
  const listOf = (text: string) =>
    router.route({
      body: { messages: [{ role: 'user', content: text }] },
      promptTokens: 100,
      maxOutputTokens: 0,
      preferences: {},
      session: null,
    }).explanation.inputs.candidates;
  expect(listOf('Write a poem about rain.')).toBe(listOf('Write a poem about snow.'));
});

function requestOf({ promptTokens, text, choices, named, rating }: Step): RouteRequest {
  return {
    body: { model: named, n: choices, messages: [{ role: 'user', content: text }] },
    promptTokens,
    maxOutputTokens: 0,
    preferences: {},
    session: null,
    ...(rating !== null && {
      drawn: {
        comparison: null,
        bandit: { seed: '00'.repeat(16), ratings: new Map([['p/plain', { count: rating, score: 80 }]]) },
      },
    }),
  };
}
