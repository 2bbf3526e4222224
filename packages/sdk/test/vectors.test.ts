import { expect, test } from 'vitest';
import type { AnchorCase } from '../../../scripts/vectors/anchor-base.ts';
import {
  anchorCases,
  anchorIn,
  authorityOf,
  bundleOf,
  bytesOf,
  callVectors,
  circumstances,
  expectAsInCore,
  expectCall,
  outcome,
  receiptCases,
  settlementCases,
  stores,
} from '../../core/test/receipt-vectors.ts';
import { type CheckedTrust, checkTrust, verifyCall, verifyReceipt } from '../src/index.ts';

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

test.each(callVectors)('$file: $name', async (vector) => {
  const { request, response, receipt, now } = vector;
  const bundle = await bundleOf(stores[vector.trust]);
  const options = { trust: await checkTrust(bundle, at), now: Date.parse(now) };
  expectCall(await verifyCall({ request, response, receipt, ...options }), vector);
});

test('there are vectors', () => {
  expect(receiptCases.length).toBeGreaterThan(500);
  expect(anchorCases.length).toBeGreaterThan(100);
});
