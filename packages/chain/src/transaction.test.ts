import { toHex } from '@tallystick/core';
import * as fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { decodeRaw, signCall } from './transaction.ts';

const fees = { gasLimit: 30_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
const account = privateKeyToAccount(`0x${'1'.repeat(64)}`);
const transfer = {
  chainId: 31_337,
  nonce: 0,
  to: account.address,
  data: `0x${'ab'.repeat(85)}`,
} as const;

test('a raw transaction says what was signed', async () => {
  for (const nonce of [0, 1, 70_000]) {
    const { raw, txHash } = await signCall(account, { ...transfer, nonce }, fees);
    expect(decodeRaw(raw)).toEqual({ txHash, nonce, data: transfer.data });
  }
});

test('one flipped bit makes it another transaction or none', async () => {
  const { raw, txHash } = await signCall(account, transfer, fees);
  const bytes = Buffer.from(raw.slice(2), 'hex');
  fc.assert(
    fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
      const flipped = bytes.map((byte, place) => (place === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(decodeRaw(`0x${toHex(flipped)}`)?.txHash).not.toBe(txHash);
    }),
  );
});

test('what is no signed transaction is none', async () => {
  for (const raw of ['', '0x', '0x02', '0x02c0', 'nonsense']) expect(decodeRaw(raw)).toBeNull();
});
