import type { SettlementTransaction } from '@tallystick/core';
import { sliceHex } from 'viem/utils';
import { chainReader } from '../reader.ts';
import { openRpc, unavailable } from '../rpc.ts';
import * as told from './token-answers.ts';
import { TRANSFER } from './token-logs.ts';

/** What a node says of the transaction that a receipt names as its settlement. */
export interface SettlementAnswer {
  /** Null where the canonical chain has none. */
  readonly transaction: SettlementTransaction | null;
  /** Whether the node calls the block final. */
  readonly final: boolean;
}

interface Asking {
  /** May hold credentials. */
  readonly rpcUrl: string;
  readonly chainId: number;
  /** For one request. */
  readonly timeoutMs: number;
}

/**
 * Reads which tokens a transaction has moved. The node is trusted for the logs.
 * @throws chain_mismatch when the node is of another chain; chain_unavailable
 */
export async function readSettlement(
  { rpcUrl, chainId, timeoutMs }: Asking,
  txHash: string,
): Promise<SettlementAnswer> {
  const rpc = openRpc(rpcUrl, timeoutMs);
  const reader = chainReader(rpc, { chainId, finality: { kind: 'finalized' } });
  await reader.check();
  const place = await reader.inclusion(txHash);
  const method = 'eth_getTransactionReceipt';
  const receipt = place && (await rpc.call(method, [txHash], told.receipt.nullable()));
  if (place === null || receipt === null) return { transaction: null, final: false };
  if (receipt.blockHash !== place.blockHash) throw unavailable(method, 'changed to another branch meanwhile');
  const { blockHeight } = place;
  return {
    transaction: { chainId, txHash, blockHeight, transfers: receipt.logs.flatMap(transferIn) },
    final: blockHeight <= (await reader.finalHeight()),
  };
}

/** An ERC-20 transfer; those of ERC-721 have a fourth topic instead of data. */
function transferIn({ address: token, topics, data }: told.Log): SettlementTransaction['transfers'] {
  const [topic, from, to, ...rest] = topics;
  if (topic !== TRANSFER || from === undefined || to === undefined) return [];
  if (rest.length > 0 || data.length !== 66) return [];
  return [{ token, from: sliceHex(from, 12), to: sliceHex(to, 12), amount: BigInt(data) }];
}
