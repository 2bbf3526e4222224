import { TallyError, toHex } from '@tallystick/core';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { keccak256 } from 'viem/utils';
import * as answers from './answers.ts';
import { readRefusal } from './broadcast-reply.ts';
import type { Broadcast, Fees, GasPrice } from './chain.ts';
import { type Rpc, unavailable } from './rpc.ts';

/**
 * The account of a secp256k1 secret key.
 * @param field where the key was given, with its name in words
 * @throws invalid_field where it is no such key
 */
export function accountOf(
  secretKey: Uint8Array,
  [field, name]: readonly [string, string],
): PrivateKeyAccount {
  try {
    return privateKeyToAccount(`0x${toHex(secretKey)}`);
  } catch {
    throw new TallyError('invalid_field', `${name} is not a secp256k1 secret key of 32 bytes.`, { field });
  }
}

export const newestBlock = (rpc: Rpc) => rpc.call('eth_getBlockByNumber', ['latest', false], answers.block);

interface GasNeeded {
  /** The node's, to which a quarter is added. */
  readonly estimate: Promise<bigint>;
  readonly least: bigint;
  /** A price that is to be replaced. */
  readonly above: GasPrice | undefined;
}

/** What a transaction is asked now (EIP-1559). @throws chain_unavailable */
export async function askFees(rpc: Rpc, { estimate, least, above }: GasNeeded): Promise<Fees> {
  const [block, tip, gas] = await Promise.all([
    newestBlock(rpc),
    rpc.call('eth_maxPriorityFeePerGas', [], answers.quantity),
    estimate,
  ]);
  if (block.baseFeePerGas === undefined) {
    throw unavailable('eth_getBlockByNumber', 'answered with a block without a base fee (EIP-1559)');
  }
  // Twice the base fee lasts for six full blocks in a row.
  const price = { maxFeePerGas: 2n * block.baseFeePerGas + tip, maxPriorityFeePerGas: tip };
  const gasLimit = larger(gas + gas / 4n, least);
  return above === undefined ? { ...price, gasLimit } : { ...raised(price, above), gasLimit };
}

/** An eighth more is what the strictest nodes ask of a replacement, of both prices. */
function raised(price: GasPrice, above: GasPrice): GasPrice {
  const more = (value: bigint) => value + value / 8n + 1n;
  return {
    maxFeePerGas: larger(price.maxFeePerGas, more(above.maxFeePerGas)),
    maxPriorityFeePerGas: larger(price.maxPriorityFeePerGas, more(above.maxPriorityFeePerGas)),
  };
}

const larger = (a: bigint, b: bigint) => (a > b ? a : b);

/** Sends a signed transaction, hex with `0x`. @throws chain_unavailable */
export async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  const method = 'eth_sendRawTransaction';
  const answer = await rpc.ask(method, [raw], answers.hash);
  if ('refusal' in answer) return readRefusal(answer.refusal.reason);
  if (answer.result !== keccak256(raw as `0x${string}`))
    throw unavailable(method, 'answered with a different hash');
  return { kind: 'accepted' };
}
