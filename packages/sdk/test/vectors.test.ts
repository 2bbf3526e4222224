import { expect, test } from 'vitest';
import {
  bundleOf,
  bytesOf,
  circumstances,
  expectAsInCore,
  outcome,
  receiptCases,
  stores,
} from '../../core/test/receipt-vectors.ts';
import { checkTrust, verifyReceipt } from '../src/index.ts';

const at = { now: Date.parse('2026-01-01T00:00:00Z') };
const trusts = {
  known: await checkTrust(await bundleOf(stores.known), at),
  empty: await checkTrust(await bundleOf(stores.empty), at),
};

test.each(receiptCases)('$file: $name', async (vector) => {
  const found = await outcome(() =>
    verifyReceipt(vector.document === undefined ? bytesOf(vector) : (vector.document as object), {
      ...circumstances(vector),
      trust: trusts[vector.trust],
    }),
  );
  await expectAsInCore(found, vector);
});

test('there are vectors', () => {
  expect(receiptCases.length).toBeGreaterThan(500);
});
