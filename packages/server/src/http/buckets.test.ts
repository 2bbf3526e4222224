import { expect, it } from 'vitest';
import { bucketsOf } from './buckets.ts';

const NOW = Date.UTC(2027, 2, 1, 12, 0, 0, 250);
const DAY = 86_400;
const TODAY = Date.UTC(2027, 2, 1) / 1_000;

it.each([
  [{ bucket: 'day' }, { span: DAY, from: TODAY - 89 * DAY, to: TODAY + DAY }],
  [
    { bucket: 'day', from: '2027-03-01T00:00:00Z' },
    { span: DAY, from: TODAY, to: TODAY + DAY },
  ],
  [
    { bucket: 'day', from: '5', to: '5' },
    { span: DAY, from: 0, to: DAY },
  ],
  [
    { bucket: 'minute', from: '61', to: '120' },
    { span: 60, from: 60, to: 120 },
  ],
] as const)('%o are whole buckets', (query, buckets) => {
  expect(bucketsOf(query, NOW)).toEqual(buckets);
});

it.each([
  ['to', { from: '5', to: '4' }],
  ['to', { from: '2027-03-01T00:00:00Z', to: '1' }],
  ['from', { from: 'yesterday' }],
  ['bucket', { bucket: 'minute', from: '0' }],
] as const)('refuses %s in %o', (field, query) => {
  expect(() => bucketsOf(query, NOW)).toThrow(expect.objectContaining({ code: 'invalid_field', field }));
});
