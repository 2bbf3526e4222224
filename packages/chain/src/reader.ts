import { TallyError } from '@tallystick/core';
import { numberToHex } from 'viem/utils';
import { z } from 'zod';
import * as answers from './answers.ts';
import type { ChainReader, ChainTransaction, Inclusion } from './chain.ts';
import { openRpc, type Rpc, unavailable } from './rpc.ts';
import { signerOf } from './transaction.ts';

/** Rule for when a block is final: the node's own finalized block, or a number of blocks, counting the transaction's. */
export type Finality =
  | { readonly kind: 'finalized' }
  | { readonly kind: 'confirmations'; readonly count: number };

export interface ReaderOptions {
  /** URL of the node; it may hold credentials. */
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly finality: Finality;
  /** Timeout for one request, to the last byte of its answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** Reads an EVM chain over HTTP; needs no key. */
export function openChainReader(options: ReaderOptions): ChainReader {
  return chainReader(openRpc(options.rpcUrl, options.timeoutMs), options);
}

export function chainReader(
  rpc: Rpc,
  { chainId, finality }: Pick<ReaderOptions, 'chainId' | 'finality'>,
): ChainReader {
  const blockAt = (at: number | 'latest' | 'finalized') =>
    rpc.call(
      'eth_getBlockByNumber',
      [typeof at === 'number' ? numberToHex(at) : at, false],
      answers.block.nullable(),
    );

  async function inclusion(txHash: string): Promise<Inclusion | null> {
    const method = 'eth_getTransactionReceipt';
    const receipt = await rpc.call(method, [txHash], answers.receipt.nullable());
    if (receipt === null || receipt.blockNumber === null) return null;
    if (receipt.transactionHash !== txHash)
      throw unavailable(method, 'answered with the receipt of another transaction');
    const block = await blockAt(receipt.blockNumber);
    if (block === null || block.hash !== receipt.blockHash) return null;
    if (!block.transactions.includes(receipt.transactionHash)) {
      throw unavailable(method, 'answered with a receipt for a block that does not contain the transaction');
    }
    return {
      txHash,
      blockHeight: block.number,
      blockHash: block.hash,
      blockTime: block.timestamp,
      succeeded: receipt.status === 1n,
    };
  }

  async function transaction(txHash: string): Promise<ChainTransaction | null> {
    const method = 'eth_getTransactionByHash';
    const answer = await rpc.call(method, [txHash], z.unknown());
    if (answer === null) return null;
    if (answers.kindOfTransaction.safeParse(answer).data?.type !== 2n) return null;
    const { data, success } = answers.transaction.safeParse(answer);
    const from = success ? await signerOf(data, txHash) : null;
    if (!success || from === null)
      throw unavailable(method, 'answered with something that is not that transaction');
    if (data.chainId !== chainId) throw unavailable(method, 'answered with a transaction of another chain');
    const place = await inclusion(txHash);
    return place && { from, data: data.input, inclusion: place };
  }

  return {
    chainId,
    inclusion,
    transaction,
    async check() {
      const id = await rpc.call('eth_chainId', [], answers.integer);
      if (id === chainId) return;
      throw new TallyError(
        'chain_mismatch',
        `The node serves chain ${id}, but chain ${chainId} is configured.`,
      );
    },
    async finalHeight() {
      if (finality.kind === 'finalized') return (await blockAt('finalized'))?.number ?? -1;
      const height = await rpc.call('eth_blockNumber', [], answers.integer);
      return Math.max(height - finality.count + 1, -1);
    },
    blockHash: async (height) => (await blockAt(height))?.hash ?? null,
  };
}
