import type { Address, Hex } from 'viem';
import { encodeFunctionData, hexToBytes, sliceHex } from 'viem/utils';
import { unavailable } from '../rpc.ts';
import type { Call, Log } from './token-answers.ts';
import { USDC_ABI } from './usdc.ts';

/** One transfer of the token, in a block of the canonical chain. Addresses and hashes are in lower case. */
export interface TokenTransfer {
  readonly txHash: Hex;
  /** Index of the log in its block. A reorg may change it; `ordinal` stays the same. */
  readonly logIndex: number;
  /** Index, from 0, among the transfers of the same transaction that match the same query. */
  readonly ordinal: number;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  /** Unix seconds, the block's own. */
  readonly blockTime: number;
  readonly from: Address;
  readonly to: Address;
  /** Amount in base units (1e-6); never 0. */
  readonly amount: bigint;
  /** The input of the transaction that made it. */
  readonly calldata: Hex;
  /**
   * Bytes after the arguments of a `transfer` that the transaction calls on the token itself: empty if there
   * are none. Null if the transfer was made in another way (by a contract, by an authorisation).
   */
  readonly memo: Uint8Array | null;
}

type TransferEvent = Omit<TokenTransfer, 'ordinal' | 'blockTime' | 'calldata' | 'memo'>;

/** Reads a log of a `Transfer` event. @throws chain_unavailable for one that has another shape than ERC-20's */
export function toTransfer(log: Log): TransferEvent {
  const [, from, to, ...rest] = log.topics;
  if (from === undefined || to === undefined || rest.length > 0 || log.data.length !== 66) {
    throw unavailable('eth_getLogs', 'answered with a Transfer event that is not of an ERC-20 token');
  }
  return {
    txHash: log.transactionHash,
    logIndex: log.logIndex,
    blockNumber: log.blockNumber,
    blockHash: log.blockHash,
    from: sliceHex(from, 12),
    to: sliceHex(to, 12),
    amount: BigInt(log.data),
  };
}

/** The bytes after `transfer(to, amount)` if the transaction calls just that on the token, or null. */
export function memoOf(
  { to: called, input }: Pick<Call, 'to' | 'input'>,
  { to, amount }: { readonly to: Address; readonly amount: bigint },
  usdc: Address,
): Uint8Array | null {
  const direct: Hex = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [to, amount] });
  if (called !== usdc.toLowerCase() || !input.startsWith(direct)) return null;
  return hexToBytes(`0x${input.slice(direct.length)}`);
}
