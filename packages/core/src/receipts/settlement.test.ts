import { describe, expect, test } from 'vitest';
import { keyOf, NOW, recordOf, sampleReceipt, signerOf } from '../../test/sample-receipts.ts';
import type { JsonObject } from '../json/types.ts';
import { type Payee, trustOf } from '../trust/issuer.ts';
import { settlementOf, verify } from '../verify.ts';
import type { SettlementTransaction } from './settlement.ts';

const alice = await signerOf(1);
const tx = `0x${'ab'.repeat(32)}`;
const payer = `0x${'0a'.repeat(20)}`;
const payee: Payee = {
  chain_id: 8453,
  asset: 'USDC',
  token: `0x${'Cc'.repeat(20)}`,
  decimals: 6,
  address: `0x${'Dd'.repeat(20)}`,
};
const records = [recordOf('did:svc:alice', keyOf(alice))];
const trust = trustOf(records, [{ log: null, chain: null, payees: [payee] }]);
const moved = {
  token: payee.token.toLowerCase(),
  from: payer,
  to: payee.address.toLowerCase(),
  amount: 800n,
};
const transaction: SettlementTransaction = {
  chainId: 8453,
  txHash: tx,
  blockHeight: 17,
  transfers: [{ ...moved, amount: 1n }, moved],
};

const envelope = (changes: JsonObject = {}): Promise<JsonObject> =>
  sampleReceipt('envelope', 'did:svc:alice', alice, {
    settlement: { chain: 'eip155:8453', asset: 'USDC', tx, amount: '0.0008', payer, ...changes },
  });
const standard = (changes: JsonObject = {}): Promise<JsonObject> =>
  sampleReceipt('standard', 'did:svc:alice', alice, {
    settlement_reference: {
      rail: 'x402',
      chain_id: 8453,
      asset: 'USDC',
      status: 'confirmed',
      tx,
      amount: '0.0008',
      ...changes,
    },
  });

async function verdictOf(
  receipt: JsonObject,
  settlement: SettlementTransaction | null | undefined,
  known = trust,
): Promise<{ valid: boolean; ok: boolean | null | undefined }> {
  const { valid, integrity, checks } = await verify(receipt, { now: NOW, trust: known, settlement });
  expect(integrity).toBe(true);
  return { valid, ok: checks.find(({ name }) => name === 'settlement_transaction')?.ok };
}

describe('a receipt that names the transaction that paid for it', () => {
  test.each([
    ['envelope', envelope],
    ['standard', standard],
  ] as const)('%s: holds where the transaction did', async (_, make) => {
    expect(await verdictOf(await make(), transaction)).toEqual({ valid: true, ok: true });
    expect(await verdictOf(await make({ amount: '0.000800000' }), transaction)).toEqual({
      valid: true,
      ok: true,
    });
    const shouting = { ...transaction, txHash: tx.toUpperCase().replace('0X', '0x') };
    expect(await verdictOf(await make(), shouting)).toEqual({ valid: true, ok: true });
  });

  test.each<[string, SettlementTransaction | null]>([
    ['is not there', null],
    ['is another', { ...transaction, txHash: `0x${'cd'.repeat(32)}` }],
    ['is of another chain', { ...transaction, chainId: 1 }],
    ['moved nothing', { ...transaction, transfers: [] }],
    ['moved another amount', { ...transaction, transfers: [{ ...moved, amount: 801n }] }],
    ['moved another token', { ...transaction, transfers: [{ ...moved, token: payer }] }],
    ['paid somebody else', { ...transaction, transfers: [{ ...moved, to: payer }] }],
    ['was paid by somebody else', { ...transaction, transfers: [{ ...moved, from: payee.address }] }],
  ])('contradicts the chain where it %s', async (_, answered) => {
    expect(await verdictOf(await envelope(), answered)).toEqual({ valid: false, ok: false });
  });

  test('contradicts it with an amount that the token can’t have', async () => {
    expect(await verdictOf(await envelope({ amount: '0.0008001' }), transaction)).toEqual({
      valid: false,
      ok: false,
    });
  });

  test('proves nothing where nobody asked, or nobody knows who is paid', async () => {
    const open = { valid: true, ok: null };
    expect(await verdictOf(await envelope(), undefined)).toEqual(open);
    expect(await verdictOf(await envelope(), transaction, trustOf(records))).toEqual(open);
    const elsewhere = trustOf(records, [{ log: null, chain: null, payees: [{ ...payee, chain_id: 1 }] }]);
    expect(await verdictOf(await envelope(), transaction, elsewhere)).toEqual(open);
    expect(await verdictOf(await envelope({ chain: 'base' }), transaction)).toEqual(open);
    expect(await verdictOf(await standard({ amount: 'some' }), transaction)).toEqual(open);
  });
});

describe('a receipt has no such check', () => {
  test.each([
    ['without a transaction', standard({ status: 'none', tx: null })],
    ['with what the caller declares', standard({ status: 'declared' })],
    ['with a transaction of another kind of chain', envelope({ tx: 'settled-by-invoice' })],
    ['of a family that names none', sampleReceipt('nano', 'did:svc:alice', alice)],
  ])('%s', async (_, receipt) => {
    expect(await verdictOf(await receipt, null)).toEqual({ valid: true, ok: undefined });
    expect(settlementOf(await receipt)).toBe(null);
  });
});

test('what a receipt names is known before the chain is asked', async () => {
  expect(settlementOf(await envelope())).toEqual({
    chainId: 8453,
    asset: 'USDC',
    tx,
    amount: '0.0008',
    payer,
  });
  expect(settlementOf({ settlement: { tx } })).toBe(null);
});
