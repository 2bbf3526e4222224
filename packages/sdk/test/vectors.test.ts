import { expect, test } from 'vitest';
import type { AnchorCase } from '../../../scripts/vectors/anchor-base.ts';
import {
  anchorCases,
  anchorIn,
  authorityOf,
  bundleOf,
  bytesOf,
  circumstances,
  expectAsInCore,
  outcome,
  receiptCases,
  settlementCases,
  stores,
} from '../../core/test/receipt-vectors.ts';
import { type CheckedTrust, checkTrust, verifyReceipt } from '../src/index.ts';

const at = { now: Date.parse('2026-01-01T00:00:00Z') };
const trusts = new Map<string, CheckedTrust>();

async function trustOf(vector: AnchorCase): Promise<CheckedTrust> {
  const bundle = await bundleOf(stores[vector.trust], 1, 'a', authorityOf(vector));
  const trust = trusts.get(bundle) ?? (await checkTrust(bundle, at));
  trusts.set(bundle, trust);
  return trust;
}

test.each([...receiptCases, ...anchorCases, ...settlementCases])('$file: $name', async (vector) => {
  const { anchor, ...onChain } = anchorIn(vector);
  const trust = await trustOf(vector);
  const found = await outcome(() =>
    verifyReceipt(vector.document === undefined ? bytesOf(vector) : (vector.document as object), {
      ...circumstances(vector),
      trust,
      ...onChain,
      anchor: anchor === undefined ? undefined : JSON.stringify(anchor),
    }),
  );
  await expectAsInCore(found, vector);
});

test('there are vectors', () => {
  expect(receiptCases.length).toBeGreaterThan(500);
  expect(anchorCases.length).toBeGreaterThan(100);
});
