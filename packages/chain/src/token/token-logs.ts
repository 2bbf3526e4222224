import { TallyError } from '@tallystick/core';
import type { Address } from 'viem';
import { encodeEventTopics, numberToHex, padHex } from 'viem/utils';
import { z } from 'zod';
import * as answers from '../answers.ts';
import { type Rpc, unavailable } from '../rpc.ts';
import { type Log, log } from './token-answers.ts';
import { USDC_ABI } from './usdc.ts';

/** Blocks per `eth_getLogs`; many nodes refuse more than 1,000 or 2,000. */
const MAX_STEP = 1000;

const [transferTopic] = encodeEventTopics({ abi: USDC_ABI, eventName: 'Transfer' });
const [usedTopic] = encodeEventTopics({ abi: USDC_ABI, eventName: 'AuthorizationUsed' });
export const TRANSFER: string = transferTopic;
export const AUTHORIZATION_USED: string = usedTopic;

/** An indexed address as a topic, or null for any address. */
export function addressTopic(address: string | undefined): string | null {
  return address === undefined ? null : padHex(address.toLowerCase() as Address, { size: 32 });
}

/**
 * The contract's logs with these topics, range by range, each range in the order of the chain.
 * @throws chain_unavailable also for a range that the node does not have to its end, and when the block at its end
 * changed while the logs were read
 */
export async function* readLogs(
  { rpc, usdc }: { readonly rpc: Rpc; readonly usdc: Address },
  topics: readonly (string | null)[],
  fromBlock: number,
  toBlock: number,
): AsyncIterable<readonly Log[]> {
  let step = MAX_STEP;
  for (let start = fromBlock; start <= toBlock; ) {
    const end = Math.min(start + step - 1, toBlock);
    const logs = await readRange(rpc, { address: usdc, topics, start, end });
    if (logs === null) {
      step = Math.ceil((end - start + 1) / 2);
      continue;
    }
    yield logs;
    start = end + 1;
    step = Math.min(step * 2, MAX_STEP);
  }
}

interface Range {
  readonly address: Address;
  readonly topics: readonly (string | null)[];
  readonly start: number;
  readonly end: number;
}

/** The logs of a range; null if the node refuses so large a range, by blocks, logs, bytes or seconds. */
async function readRange(rpc: Rpc, range: Range): Promise<readonly Log[] | null> {
  const method = 'eth_getLogs';
  const { address, topics, start, end } = range;
  const before = await hashOf(rpc, end);
  const filter = { address, topics, fromBlock: numberToHex(start), toBlock: numberToHex(end) };
  const logs = await rpc.call(method, [filter], z.array(log)).catch((error: unknown) => {
    if (start < end && error instanceof TallyError && error.code === 'chain_unavailable') return null;
    throw error;
  });
  if (logs === null) return null;
  if ((await hashOf(rpc, end)) !== before) throw unavailable(method, 'changed to another branch meanwhile');
  if (!logs.every((one) => isOf(range, one))) throw unavailable(method, 'answered with different logs');
  const present = logs.filter(({ removed }) => removed !== true);
  return present.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

async function hashOf(rpc: Rpc, number: number): Promise<string> {
  const method = 'eth_getBlockByNumber';
  const block = await rpc.call(method, [numberToHex(number), false], answers.block.nullable());
  if (block === null) throw unavailable(method, `has no block ${number} yet`);
  return block.hash;
}

function isOf({ address, topics, start, end }: Range, one: Log): boolean {
  return (
    one.address === address.toLowerCase() &&
    one.blockNumber >= start &&
    one.blockNumber <= end &&
    topics.every((topic, at) => topic === null || topic === one.topics[at])
  );
}
