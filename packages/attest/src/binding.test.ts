import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { namesKey, reportDataOf } from './binding.ts';
import type { AttestationType } from './evidence.ts';

const key = new Uint8Array(32).fill(7);
const hash = createHash('sha256').update(key).digest('hex');

test('report data are the SHA-256 of the key, then zeros to 64 bytes', () => {
  expect(reportDataOf(key)).toBe(hash + '0'.repeat(64));
});

test.each<[string, AttestationType, string | null, boolean]>([
  ['as SEV-SNP has them', 'sev-snp', reportDataOf(key), true],
  ['as TDX has them', 'tdx', reportDataOf(key), true],
  ['as Nitro has them', 'nitro', hash, true],
  ['that are the nonce of a GPU', 'nvidia', hash, false],
  ['with more of the machine’s own', 'tdx', `${hash}${'ab'.repeat(32)}`, true],
  ['of another key', 'tdx', reportDataOf(new Uint8Array(32).fill(8)), false],
  ['that are too short', 'tdx', hash.slice(0, 62), false],
  ['that are none', 'tdx', null, false],
])('report data %s', (_, type, reportData, expected) => {
  expect(namesKey(type, reportData, key)).toBe(expected);
});
