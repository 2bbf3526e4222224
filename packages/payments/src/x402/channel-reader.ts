import { answers } from '@tallystick/chain';
import { openRpc } from '@tallystick/chain/evm';
import { BATCH_SETTLEMENT_ADDRESS } from '@x402/evm';
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils';
import type { BaseUnits } from '../payment-store.ts';

const ABI = parseAbi([
  'function channels(bytes32 channelId) view returns (uint128 balance, uint128 totalClaimed)',
  'function pendingWithdrawals(bytes32 channelId) view returns (uint128 amount, uint40 initiatedAt)',
]);

interface ChainChannel {
  /** Everything that was ever deposited and not refunded. */
  readonly balance: BaseUnits;
  readonly totalClaimed: BaseUnits;
  /** The part of the balance that the payer has asked to have back. It is still claimable until the payer takes it. */
  readonly leaving: BaseUnits;
}

/** Reads channels of `batch-settlement`. */
export interface ChannelReader {
  /** The contract that pays claims; lower case. */
  readonly contract: string;
  /** Reads a channel; a missing one has no money. @throws chain_unavailable */
  read(id: string): Promise<ChainChannel>;
}

const KEPT_MS = 60_000;
const MOST_KEPT = 10_000;

/**
 * Caches the deposits that were seen, for a minute: a payer can take one back only 15 minutes after asking for it or later,
 * and what it has asked for does not count. Bounded; the oldest goes first.
 */
export function seenBalances(
  { read }: Pick<ChannelReader, 'read'>,
  clock: () => number,
): (id: string, least: BaseUnits) => Promise<boolean> {
  const seen = new Map<string, { readonly balance: BaseUnits; readonly until: number }>();
  return async (id, least) => {
    const known = seen.get(id);
    if (known !== undefined && known.until > clock() && known.balance >= least) return true;
    const { balance: deposited, leaving } = await read(id);
    const balance = deposited - leaving;
    seen.delete(id);
    seen.set(id, { balance, until: clock() + KEPT_MS });
    const [oldest] = seen.keys();
    if (seen.size > MOST_KEPT && oldest !== undefined) seen.delete(oldest);
    return balance >= least;
  };
}

export function channelReader(rpcUrl: string, timeoutMs: number): ChannelReader {
  const rpc = openRpc(rpcUrl, timeoutMs);
  const ask = (data: `0x${string}`) =>
    rpc.call('eth_call', [{ to: BATCH_SETTLEMENT_ADDRESS, data }, 'latest'], answers.data);
  return {
    contract: BATCH_SETTLEMENT_ADDRESS.toLowerCase(),
    async read(id) {
      const args = [id as `0x${string}`] as const;
      const [channel, withdrawal] = await Promise.all([
        ask(encodeFunctionData({ abi: ABI, functionName: 'channels', args })),
        ask(encodeFunctionData({ abi: ABI, functionName: 'pendingWithdrawals', args })),
      ]);
      const [balance, totalClaimed] = decodeFunctionResult({
        abi: ABI,
        functionName: 'channels',
        data: channel,
      });
      const [leaving] = decodeFunctionResult({
        abi: ABI,
        functionName: 'pendingWithdrawals',
        data: withdrawal,
      });
      return { balance, totalClaimed, leaving };
    },
  };
}
