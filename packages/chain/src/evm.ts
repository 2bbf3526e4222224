import { toHex } from '@tallystick/core';
import * as answers from './answers.ts';
import type { AccountState, Chain, Fees, GasPrice } from './chain.ts';
import { chainReader, type ReaderOptions } from './reader.ts';
import { openRpc, type Rpc } from './rpc.ts';
import { accountOf, askFees, broadcast, newestBlock } from './sending.ts';
import { senderOfRaw, signCall, transferGas } from './transaction.ts';

export interface ChainOptions extends ReaderOptions {
  /** The `<network>` of an anchor reference. */
  readonly network: string;
  /** The posting account's secp256k1 key, 32 bytes. */
  readonly secretKey: Uint8Array;
}

/**
 * Any EVM chain with EIP-1559 fees, over one JSON-RPC endpoint. Opening it sends no request: see `check`.
 * @throws invalid_field when the key is no secp256k1 key
 */
export function openEvmChain(options: ChainOptions): Chain {
  const { chainId, network } = options;
  const signer = accountOf(options.secretKey, ['posting_key', 'The posting key']);
  const rpc = openRpc(options.rpcUrl, options.timeoutMs);
  return {
    ...chainReader(rpc, options),
    network,
    address: signer.address,
    nextNonce: () => rpc.call('eth_getTransactionCount', [signer.address, 'latest'], answers.integer),
    account: (address) => readAccount(rpc, address),
    balance: () => rpc.call('eth_getBalance', [signer.address, 'latest'], answers.quantity),
    fees: (data, above) => feesOf(rpc, signer.address, data, above),
    sign: (data, nonce, fees) =>
      signCall(signer, { chainId, nonce, to: signer.address, data: `0x${toHex(data)}` }, fees),
    senderOf: senderOfRaw,
    broadcast: (raw) => broadcast(rpc, raw),
  };
}

async function readAccount(rpc: Rpc, address: string): Promise<AccountState> {
  const block = await newestBlock(rpc);
  // Both are read by the block's hash (EIP-1898), so that nonce and block belong together.
  const nonce = await rpc.call(
    'eth_getTransactionCount',
    [address, { blockHash: block.hash }],
    answers.integer,
  );
  return { nonce, blockHeight: block.number, blockHash: block.hash };
}

function feesOf(rpc: Rpc, address: string, data: Uint8Array, above?: GasPrice): Promise<Fees> {
  const call = { from: address, to: address, data: `0x${toHex(data)}` };
  // Some nodes refuse to estimate for an empty account.
  const estimate = rpc
    .ask('eth_estimateGas', [call], answers.quantity)
    .then((answer) => ('result' in answer ? answer.result : 0n));
  return askFees(rpc, { estimate, least: transferGas(data.length), above });
}
