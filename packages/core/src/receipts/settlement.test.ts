import { expect, test } from 'vitest';
import { readVectors } from '../../test/receipt-vectors.ts';
import { settlementOf } from '../verify.ts';

const documentOf = (name: string) =>
  readVectors('settlements.json').find((one) => one.name === name)?.document;

test('what a receipt names is known before the chain is asked', () => {
  const named = { chainId: 8453, asset: 'USDC', tx: `0x${'ab'.repeat(32)}`, amount: '0.0008' };
  expect(settlementOf(documentOf('envelope') ?? null)).toEqual({ ...named, payer: `0x${'0a'.repeat(20)}` });
  expect(settlementOf(documentOf('standard') ?? null)).toEqual({ ...named, payer: null });
});

test.each(['not named', 'declared', 'no EVM transaction', 'nano'])(
  'a receipt names no payment: %s',
  (name) => {
    expect(settlementOf(documentOf(name) ?? null)).toBe(null);
  },
);

test('a document that is no receipt names no payment', () => {
  expect(settlementOf({ settlement: { tx: `0x${'ab'.repeat(32)}` } })).toBe(null);
});
