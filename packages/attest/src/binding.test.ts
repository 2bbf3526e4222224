import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { namesKey, reportDataOf } from './binding.ts';

const key = new Uint8Array(32).fill(7);
const hash = createHash('sha256').update(key).digest('hex');

test('report data are the SHA-256 of the key, then zeros to 64 bytes', () => {
  expect(reportDataOf(key)).toBe(hash + '0'.repeat(64));
});

test.each([
  ['as SEV-SNP and TDX have them', reportDataOf(key), true],
  ['as Nitro and NVIDIA have them', hash, true],
  ['with more of the machine’s own', `${hash}${'ab'.repeat(32)}`, true],
  ['of another key', reportDataOf(new Uint8Array(32).fill(8)), false],
  ['that are too short', hash.slice(0, 62), false],
  ['that are none', null, false],
])('report data %s', (_, reportData, expected) => {
  expect(namesKey(reportData, key)).toBe(expected);
});
