import { TallyError, toHex } from '@tallystick/core';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { keccak256 } from 'viem/utils';
import * as answers from './answers.ts';
import { readRefusal } from './broadcast-reply.ts';
import type { AccountState, Broadcast, Chain, Fees, GasPrice } from './chain.ts';
import { chainReader, type ReaderOptions } from './reader.ts';
import { openRpc, type Rpc, unavailable } from './rpc.ts';
import { senderOfRaw, signTransfer, transferGas } from './transaction.ts';

export interface ChainOptions extends ReaderOptions {
  /** The `<network>` of an anchor reference. */
  readonly network: string;
  /** The posting account's secp256k1 key, 32 bytes. */
  readonly secretKey: Uint8Array;
}

/**
 * Any EVM chain with EIP-1559 fees, over one JSON-RPC endpoint. Asks nothing yet: see `check`.
 * @throws invalid_field when the key is no secp256k1 key
 */
export function openEvmChain(options: ChainOptions): Chain {
  const { chainId, network } = options;
  const signer = accountOf(options.secretKey);
  const rpc = openRpc(options.rpcUrl, options.timeoutMs);
  return {
    ...chainReader(rpc, options),
    network,
    address: signer.address,
    nextNonce: () => rpc.call('eth_getTransactionCount', [signer.address, 'latest'], answers.integer),
    account: (address) => readAccount(rpc, address),
    balance: () => rpc.call('eth_getBalance', [signer.address, 'latest'], answers.quantity),
    fees: (data, above) => askFees(rpc, signer.address, data, above),
    sign: (data, nonce, fees) => signTransfer(signer, { chainId, nonce, data }, fees),
    senderOf: senderOfRaw,
    broadcast: (raw) => broadcast(rpc, raw),
  };
}

function accountOf(secretKey: Uint8Array): PrivateKeyAccount {
  try {
    return privateKeyToAccount(`0x${toHex(secretKey)}`);
  } catch {
    throw new TallyError('invalid_field', 'The posting key is not a secp256k1 secret key of 32 bytes.', {
      field: 'posting_key',
    });
  }
}

async function readAccount(rpc: Rpc, address: string): Promise<AccountState> {
  const block = await newestBlock(rpc);
  // By the block's hash (EIP-1898), so that nonce and block belong together.
  const nonce = await rpc.call(
    'eth_getTransactionCount',
    [address, { blockHash: block.hash }],
    answers.integer,
  );
  return { nonce, blockHeight: block.number, blockHash: block.hash };
}

const newestBlock = (rpc: Rpc) => rpc.call('eth_getBlockByNumber', ['latest', false], answers.block);

async function askFees(rpc: Rpc, address: string, data: Uint8Array, above?: GasPrice): Promise<Fees> {
  const call = { from: address, to: address, data: `0x${toHex(data)}` };
  const [block, tip, estimate] = await Promise.all([
    newestBlock(rpc),
    rpc.call('eth_maxPriorityFeePerGas', [], answers.quantity),
    rpc.ask('eth_estimateGas', [call], answers.quantity),
  ]);
  if (block.baseFeePerGas === undefined) {
    throw unavailable('eth_getBlockByNumber', 'answered with a block without a base fee (EIP-1559)');
  }
  // Twice the base fee lasts for six full blocks in a row.
  const price = { maxFeePerGas: 2n * block.baseFeePerGas + tip, maxPriorityFeePerGas: tip };
  // Some nodes refuse to estimate for an empty account.
  const estimated = 'result' in estimate ? estimate.result + estimate.result / 4n : 0n;
  const gasLimit = larger(estimated, transferGas(data.length));
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

async function broadcast(rpc: Rpc, raw: string): Promise<Broadcast> {
  const method = 'eth_sendRawTransaction';
  const answer = await rpc.ask(method, [raw], answers.hash);
  if ('refusal' in answer) return readRefusal(answer.refusal.reason);
  if (answer.result !== keccak256(raw as `0x${string}`))
    throw unavailable(method, 'answered with a different hash');
  return { kind: 'accepted' };
}
