import * as fc from 'fast-check';
import { keccak256, numberToHex, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json/types.ts';
import { readNodeTransaction } from './transaction.ts';

const hex = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`;
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(hex);
const amount = fc.bigInt({ min: 0n, max: 2n ** 128n });
const unsigned = fc.record({
  type: fc.constant('eip1559' as const),
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: fc.integer({ min: 0, max: 2 ** 31 }),
  maxPriorityFeePerGas: fc.constant(1n),
  maxFeePerGas: fc.bigInt({ min: 1n, max: 2n ** 64n }),
  gas: fc.bigInt({ min: 0n, max: 2n ** 40n }),
  to: fc.option(bytes(20), { nil: null }),
  value: amount,
  data: fc.uint8Array({ maxLength: 400 }).map(hex),
  accessList: fc.array(
    fc.record({ address: bytes(20), storageKeys: fc.array(bytes(32), { maxLength: 2 }) }),
    {
      maxLength: 3,
    },
  ),
});
const account = privateKeyToAccount(`0x${'01'.repeat(32)}`);

/** As a node tells it, with its hash. */
async function signed(
  transaction: Parameters<typeof account.signTransaction>[0],
): Promise<[JsonObject, string]> {
  const raw = await account.signTransaction(transaction);
  const { r = '0x', s = '0x', yParity = 0 } = parseTransaction(raw as `0x02${string}`);
  const told = {
    chainId: numberToHex(transaction.chainId ?? 0),
    nonce: numberToHex(transaction.nonce ?? 0),
    maxPriorityFeePerGas: numberToHex(transaction.maxPriorityFeePerGas ?? 0n),
    maxFeePerGas: numberToHex(transaction.maxFeePerGas ?? 0n),
    gas: numberToHex(transaction.gas ?? 0n),
    to: transaction.to ?? null,
    value: numberToHex(transaction.value ?? 0n),
    input: transaction.data ?? '0x',
    accessList: (transaction.accessList ?? []).map((entry) => ({
      ...entry,
      storageKeys: [...entry.storageKeys],
    })),
    r,
    s,
    yParity: numberToHex(yParity),
  };
  return [told, keccak256(raw)];
}

test('sender and data follow from the hash of what viem has signed', async () => {
  await fc.assert(
    fc.asyncProperty(unsigned, async (transaction) => {
      const [told, hash] = await signed(transaction);
      const from = account.address.toLowerCase();
      const { chainId, data } = transaction;
      expect(readNodeTransaction(told, hash)).toEqual({ chainId, from, data });
    }),
    { numRuns: 60 },
  );
});

describe('what is not the transaction of that hash is none', () => {
  const other = {
    chainId: '0x2',
    nonce: '0x1',
    input: '0x0102',
    to: null,
    value: '0x7',
    gas: '0x9',
    r: '0x5',
  };
  const broken = {
    chainId: 1,
    nonce: '1',
    input: '0x0',
    to: '0x12',
    accessList: null,
    s: null,
    yParity: '0x2',
  };

  test.each([...Object.entries(other), ...Object.entries(broken), ['accessList', [{}]]])(
    '%s is %s',
    async (name, value) => {
      const [told, hash] = await signed({
        type: 'eip1559',
        chainId: 1,
        nonce: 0,
        maxFeePerGas: 3n,
        maxPriorityFeePerGas: 1n,
        gas: 21_000n,
        to: account.address,
        value: 0n,
        data: '0x01',
      });
      expect(readNodeTransaction(told, hash)).not.toBeNull();
      expect(readNodeTransaction({ ...told, [name]: value }, hash)).toBeNull();
    },
  );

  test.each([[null], ['0x'], [[]]])('%j', (told) => {
    expect(readNodeTransaction(told, '0x')).toBeNull();
  });
});
