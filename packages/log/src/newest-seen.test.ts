import { expect, test } from 'vitest';
import { NewestSeen } from './newest-seen.ts';

const checkpoint = (size: number, fill = size) => ({ size, root: new Uint8Array(32).fill(fill), note: '' });

test('a log only grows, and has one tree of each size', () => {
  const seen = new NewestSeen();
  for (const stored of [null, checkpoint(0), checkpoint(0), checkpoint(5), checkpoint(9), checkpoint(9)])
    expect(() => seen.require(stored)).not.toThrow();
  for (const stored of [null, checkpoint(0), checkpoint(8)])
    expect(() => seen.require(stored)).toThrow(expect.objectContaining({ code: 'log_behind' }));
  expect(() => seen.require(checkpoint(9, 1))).toThrow(expect.objectContaining({ code: 'log_corrupted' }));
  expect(() => seen.require(checkpoint(10))).not.toThrow();
});
