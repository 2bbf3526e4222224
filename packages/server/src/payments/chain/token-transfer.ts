import type { Address, Hex } from 'viem';
import { encodeFunctionData, hexToBytes, sliceHex } from 'viem/utils';
import { unavailable } from '../../chain/rpc.ts';
import type { TokenTransfer } from './token.ts';
import type { Call, Log } from './token-answers.ts';
import { USDC_ABI } from './usdc.ts';

type Moved = Omit<TokenTransfer, 'ordinal' | 'blockTime' | 'calldata' | 'memo'>;

/**
 * @param log of a `Transfer` event
 * @throws chain_unavailable for one that has another shape than ERC-20's
 */
export function toTransfer(log: Log): Moved {
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

/** The bytes after `transfer(to, amount)` where the transaction calls just that on the token, or null. */
export function memoOf(
  { to: called, input }: Pick<Call, 'to' | 'input'>,
  { to, amount }: { readonly to: Address; readonly amount: bigint },
  usdc: Address,
): Uint8Array | null {
  const direct: Hex = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [to, amount] });
  if (called !== usdc.toLowerCase() || !input.startsWith(direct)) return null;
  return hexToBytes(`0x${input.slice(direct.length)}`);
}
