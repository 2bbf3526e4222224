import type { Logger } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import type { Model, PriceSource } from './catalogue.ts';
import { openCatalogue } from './open.ts';
import { createReview } from './review.ts';
import { priceAgeDays, requireUpkept, retiresInDays, upkeepOf } from './upkeep.ts';

const [model] = openCatalogue({ GROQ_API_KEY: 'k' }).catalogue.models;
if (model === undefined) throw new Error('No model.');
const dated = (source: Partial<PriceSource>, rest: Partial<Model> = {}): Model => ({
  ...model,
  price: { ...model.price, source: { page: 'https://a.example/prices', readOn: '2026-11-23', ...source } },
  ...rest,
});
const at = (text: string): number => Date.parse(text);

describe('what is to be done about an entry', () => {
  it.each([
    ['nothing on the day of reading', {}, {}, '2026-11-23T00:00:00Z', 0, null],
    ['nothing 90 days later', {}, {}, '2027-02-21T23:59:59Z', 0, null],
    ['the price is old after 91 days', {}, {}, '2027-02-22T00:00:00Z', 0, 'price_old'],
    ['the price is within the limit', {}, {}, '2026-12-23T23:59:59Z', 30, null],
    ['the price is over the limit', {}, {}, '2026-12-24T00:00:00Z', 30, 'price_outdated'],
    ['the page promised it until today', { validUntil: '2026-12-31' }, {}, '2026-12-31T23:59:59Z', 0, null],
    [
      'the page promised it until yesterday',
      { validUntil: '2026-12-31' },
      {},
      '2027-01-01T00:00:00Z',
      0,
      'price_outdated',
    ],
    ['32 days are left', {}, { retiresOn: '2027-01-14' }, '2026-12-13T00:00:00Z', 0, null],
    ['31 days are left', {}, { retiresOn: '2027-01-14' }, '2026-12-14T00:00:00Z', 0, 'retires_soon'],
    ['the last day', {}, { retiresOn: '2027-01-14' }, '2027-01-13T23:59:59Z', 0, 'retires_soon'],
    ['the day itself', {}, { retiresOn: '2027-01-14' }, '2027-01-14T00:00:00Z', 0, 'retired'],
    ['the worse of two', {}, { retiresOn: '2027-01-14' }, '2027-01-14T00:00:00Z', 1, 'retired'],
  ] as const)('%s', (_, source, rest, now, maxPriceAgeDays, expected) => {
    expect(upkeepOf(dated(source, rest), { now: at(now), maxPriceAgeDays })).toBe(expected);
  });

  it('is nothing for a price without a day, and for a free model', () => {
    const now = at('2040-01-01');
    const undated = { ...model, price: { ...model.price, source: null } };
    const free = { ...dated({}), price: { ...dated({}).price, inputPerMTok: 0n, outputPerMTok: 0n } };
    for (const one of [undated, free]) expect(upkeepOf(one, { now, maxPriceAgeDays: 1 })).toBeNull();
    expect([priceAgeDays(undated, now), retiresInDays(undated, now)]).toEqual([null, null]);
  });

  it('refuses a model past its date with its successors, and one whose price is too old', () => {
    const over = dated({}, { retiresOn: '2026-12-11', successors: ['openai/a', 'openai/b'] });
    const terms = { now: at('2026-12-31'), maxPriceAgeDays: 30 };
    expect(() => requireUpkept(over, terms)).toThrow(
      expect.objectContaining({
        code: 'model_gone',
        message: expect.stringMatching(
          /shut this model down on 2026-12-11\. Name openai\/a or openai\/b, or auto/,
        ),
      }),
    );
    expect(() => requireUpkept(dated({}), terms)).toThrow(
      expect.objectContaining({ code: 'price_outdated' }),
    );
    expect(() => requireUpkept(dated({}), { ...terms, maxPriceAgeDays: 0 })).not.toThrow();
  });
});

it('warns of all models of a kind in one line, at once and then once a day', () => {
  const warn = vi.fn<(facts: object, text: string) => void>();
  const review = createReview({ warn: warn as unknown as Logger['warn'] });
  const models = [
    dated({}, { id: 'a/one' }),
    dated({}, { id: 'a/two' }),
    dated({}, { id: 'a/gone', retiresOn: '2026-12-11' }),
  ];
  const terms = (now: string) => ({ now: at(now), maxPriceAgeDays: 0 });
  review(models, terms('2027-06-01T10:00:00Z'));
  review.daily(models, terms('2027-06-01T23:59:59Z'));
  expect(warn.mock.calls.map(([facts]) => facts)).toEqual([
    { why: 'price_old', models: ['a/one', 'a/two'] },
    { why: 'retired', models: ['a/gone'] },
  ]);
  review.daily(models, terms('2027-06-02T00:00:00Z'));
  expect(warn).toHaveBeenCalledTimes(4);
});
