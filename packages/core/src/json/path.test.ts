import { expect, test } from 'vitest';
import { formatPath, type PathStep } from './path.ts';

test.each<[PathStep[], string | undefined]>([
  [[], undefined],
  [['request', 'hash'], 'request.hash'],
  [['receipts', 3, 'ts'], 'receipts[3].ts'],
  [[0, 'a'], '[0].a'],
  [['@context', 'a.b', ''], '@context["a.b"][""]'],
  [['x'.repeat(65)], `["${'x'.repeat(64)}"]`],
  [[`${'"'.repeat(63)}😂`], `["${'\\"'.repeat(63)}\ufffd"]`],
])('%j is %s', (steps, text) => {
  expect(formatPath(steps)).toBe(text);
});
