import { expect, it } from 'vitest';
import { byteRange } from './byte-range.ts';

it.each([
  ['bytes=0-', { from: 0, to: 10 }],
  ['bytes=9-', { from: 9, to: 10 }],
  ['bytes=2-4', { from: 2, to: 5 }],
  ['bytes=2-99', { from: 2, to: 10 }],
  ['bytes=4-2', null],
  ['bytes=-3', null],
  ['bytes=0-1,3-4', null],
  ['items=0-1', null],
  [undefined, null],
])('%s of ten bytes', (range, wanted) => {
  expect(byteRange(range, 10, { headers: {} })).toEqual(wanted);
});

it('past the end is refused, and says where that is', () => {
  const headers = {};
  expect(() => byteRange('bytes=10-', 10, { headers })).toThrow(
    expect.objectContaining({ code: 'range_invalid' }),
  );
  expect(headers).toEqual({ 'content-range': 'bytes */10' });
});
