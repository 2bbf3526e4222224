import { expect, it } from 'vitest';
import { RECEIPT_META_KEY, resultWithoutReceipt } from './mcp-result.ts';

const content = [{ type: 'text', text: 'done' }];

it.each([
  ['no _meta', { content }, { content }],
  ['an empty _meta', { _meta: {}, content }, { content }],
  ['another member of _meta', { _meta: { a: 1 }, content }, { _meta: { a: 1 }, content }],
  ['a _meta that is no object', { _meta: null, content }, { _meta: null, content }],
])('is the same before and after a receipt is added to a result with %s', (_, result, covered) => {
  expect(resultWithoutReceipt(result)).toEqual(covered);
  const { _meta: meta } = result as { _meta?: object | null };
  if (meta === null) return;
  expect(
    resultWithoutReceipt({ ...result, _meta: { ...meta, [RECEIPT_META_KEY]: { v: 'svc-receipt-v1' } } }),
  ).toEqual(covered);
});
