import { sha256Hex, utf8 } from '@tallystick/core';
import type { Hex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/**
 * The wallets of a development chain: `treasury` is paid if no other one is configured, `facilitator` submits
 * payments and pays their gas, `alice` and `bob` have money to pay with.
 */
export const DEV_ACCOUNTS = ['treasury', 'facilitator', 'alice', 'bob'] as const;

export type DevAccountName = (typeof DEV_ACCOUNTS)[number];

/** The key follows from the name: anyone can spend what the account holds, on any chain. */
export function devSecretKey(name: DevAccountName): Hex {
  return `0x${sha256Hex(utf8(`tallystick development chain: ${name}`))}`;
}

export function devAccount(name: DevAccountName): PrivateKeyAccount {
  return privateKeyToAccount(devSecretKey(name));
}
