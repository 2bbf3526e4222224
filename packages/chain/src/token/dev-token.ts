import { TallyError } from '@tallystick/core';
import type { Address, Hex } from 'viem';
import { encodeFunctionData, numberToHex, padHex, parseAbi } from 'viem/utils';
import { z } from 'zod';
import * as answers from '../answers.ts';
import { openRpc, type Rpc } from '../rpc.ts';
import contracts from './contracts.json' with { type: 'json' };
import { DEV_ACCOUNTS, type DevAccountName, devAccount, devSecretKey } from './dev-accounts.ts';
import { USDC_ABI } from './usdc.ts';

/** Address of the test USDC on every development chain: EIP-55 checksummed. */
export const DEV_USDC: Address = '0x05Dc000000000000000000000000000000000006';
/** Account that may mint test USDC. Nobody has its key: the chain signs for it. */
const FAUCET: Address = '0x05dc0000000000000000000000000000000FA0cE';

type ContractName = keyof typeof contracts.runtimeCode;

/** Address of each contract: the canonical ones are where `@x402/evm` and others expect them. */
const ADDRESSES: Readonly<Record<ContractName, Address>> = {
  TestUSDC: DEV_USDC,
  TestMulticall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
  TestPermit2: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  TestX402ExactPermit2Proxy: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
  TestX402UptoPermit2Proxy: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
  TestBatchSettlement: '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003',
  TestERC3009DepositCollector: '0x4020806089470a89826cB9fB1f4059150b550004',
  TestPermit2DepositCollector: '0x4020425FAf3B746C082C2f942b4E5159887B0005',
};

const FAUCET_ABI = parseAbi(['function mint(address to, uint256 value)']);
const RPC_TIMEOUT_MS = 5000;
const ETHER = 10n ** 18n;
/** Base units of test USDC that an empty wallet is given. */
const WALLET_USDC = 100_000_000n;

/** Test money and wallets of a development chain. */
export interface DevToken {
  /** Address of the test USDC, the same on every development chain: EIP-55 checksummed, like the accounts. */
  readonly usdc: Address;
  readonly accounts: Readonly<Record<DevAccountName, Address>>;
  /** Keys of the wallets. They are not secret: they follow from the names. */
  readonly secretKeys: Readonly<Record<DevAccountName, Hex>>;
  /** Balance in base units of test USDC (1e-6) and in wei. */
  balance(address: string): Promise<DevBalance>;
  /** Adds `usdc` base units (1e-6) of test USDC, and raises the account's ether to `wei`. */
  give(address: string, amount: DevBalance): Promise<void>;
}

export interface DevBalance {
  readonly usdc: bigint;
  readonly wei: bigint;
}

/**
 * Puts test USDC and the contracts that x402 uses on a development chain, and gives its wallets money. A second call
 * changes no balance but those of empty wallets, and replaces contracts of another version.
 * @param rpcUrl URL of an Anvil on this machine
 * @throws chain_mismatch when the chain is anything else; chain_unavailable
 */
export async function deployDevToken(rpcUrl: string): Promise<DevToken> {
  const rpc = openRpc(rpcUrl, RPC_TIMEOUT_MS);
  await requireDevnet(rpcUrl, rpc);
  for (const [name, code] of Object.entries(contracts.runtimeCode)) {
    const address = ADDRESSES[name as ContractName];
    if ((await codeAt(rpc, address)) !== code) await rpc.call('anvil_setCode', [address, code], z.unknown());
  }
  // The contract has no constructor that sets its owner, so the storage slot of the owner is written.
  const owner = padHex(FAUCET, { size: 32 });
  await rpc.call('anvil_setStorageAt', [DEV_USDC, padHex('0x0', { size: 32 }), owner], z.unknown());
  const token = devToken(rpc);
  for (const name of DEV_ACCOUNTS) {
    const address = token.accounts[name];
    const isBroke = isPayer(name) && (await token.balance(address)).usdc === 0n;
    await token.give(address, { usdc: isBroke ? WALLET_USDC : 0n, wei: ETHER });
  }
  return token;
}

const isPayer = (name: DevAccountName) => name === 'alice' || name === 'bob';

/**
 * Opens a development chain that `deployDevToken` has prepared.
 * @throws chain_mismatch when it is anything else; chain_unavailable
 */
export async function openDevToken(rpcUrl: string): Promise<DevToken> {
  const rpc = openRpc(rpcUrl, RPC_TIMEOUT_MS);
  await requireDevnet(rpcUrl, rpc);
  if ((await codeAt(rpc, DEV_USDC)) !== '0x') return devToken(rpc);
  throw new TallyError(
    'chain_mismatch',
    'The development chain has no test money, because payments are off (TALLY_PAYMENTS).',
  );
}

function devToken(rpc: Rpc): DevToken {
  const byName = <T>(of: (name: DevAccountName) => T) =>
    Object.fromEntries(DEV_ACCOUNTS.map((name) => [name, of(name)])) as Record<DevAccountName, T>;
  return {
    usdc: DEV_USDC,
    accounts: byName((name) => devAccount(name).address),
    secretKeys: byName(devSecretKey),
    async balance(address) {
      const args = [address as Address] as const;
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'balanceOf', args });
      const [usdc, wei] = await Promise.all([
        rpc.call('eth_call', [{ to: DEV_USDC, data }, 'latest'], answers.quantity),
        rpc.call('eth_getBalance', [address, 'latest'], answers.quantity),
      ]);
      return { usdc, wei };
    },
    async give(address, { usdc, wei }) {
      await topUp(rpc, address, wei);
      if (usdc > 0n) await mint(rpc, address, usdc);
    },
  };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

async function requireDevnet(rpcUrl: string, rpc: Rpc): Promise<void> {
  const isLocal = LOOPBACK.test(new URL(rpcUrl).hostname);
  const version = isLocal ? await rpc.call('web3_clientVersion', [], z.string()) : '';
  if (version.startsWith('anvil/')) return;
  throw new TallyError('chain_mismatch', 'Test money is only for a development chain on this machine.');
}

async function topUp(rpc: Rpc, address: string, wei: bigint): Promise<void> {
  const balance = await rpc.call('eth_getBalance', [address, 'latest'], answers.quantity);
  if (balance < wei) await rpc.call('anvil_setBalance', [address, numberToHex(wei)], z.unknown());
}

const codeAt = (rpc: Rpc, address: Address) => rpc.call('eth_getCode', [address, 'latest'], answers.data);

async function mint(rpc: Rpc, to: string, value: bigint): Promise<void> {
  await topUp(rpc, FAUCET, ETHER);
  await rpc.call('anvil_impersonateAccount', [FAUCET], z.unknown());
  const args = [to as Address, value] as const;
  const data = encodeFunctionData({ abi: FAUCET_ABI, functionName: 'mint', args });
  await rpc.call('eth_sendTransactionSync', [{ from: FAUCET, to: DEV_USDC, data }], z.unknown());
}
