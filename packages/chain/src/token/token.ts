import type { Address, Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData, numberToHex } from 'viem/utils';
import * as answers from '../answers.ts';
import { openRpc, type Rpc, unavailable } from '../rpc.ts';
import * as told from './token-answers.ts';
import { AUTHORIZATION_USED, addressTopic, readLogs, TRANSFER } from './token-logs.ts';
import type { TokenTransfer } from './token-transfer.ts';
import { memoOf, toTransfer } from './token-transfer.ts';
import { USDC_ABI } from './usdc.ts';

/** A block of the chain that the node now takes for the canonical one. */
export interface Block {
  readonly number: number;
  readonly hash: Hex;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
}

/** Query for transfers. The range of blocks includes both ends. If sender and recipient are given, both must match. */
export interface TransferQuery {
  readonly from?: string;
  readonly to?: string;
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** Transfer that a payment must have made. The amount is in base units (1e-6); addresses are in any case. */
interface ExpectedTransfer {
  readonly from?: string;
  readonly to: string;
  readonly amount: bigint;
}

/**
 * State of a transaction that is said to have paid: final; not yet final; unknown to the node;
 * reverted, or without such a transfer.
 */
type Settlement = 'confirmed' | 'pending' | 'missing' | 'mismatch';

/**
 * USDC, or a token with its interface, on one chain. Only reads, and stores nothing. The node is trusted.
 *
 * Errors: every method rejects with `chain_unavailable` when the node can't be reached, times out, gives no valid answer, or
 * changes to another branch during the call. Nothing is tried again here, but a range of blocks that the node
 * refuses is read in halves.
 */
export interface TokenChain {
  /** CAIP-2: `eip155:<chain id>`. */
  readonly network: `eip155:${number}`;
  /** The token's contract: EIP-55 checksummed. */
  readonly usdc: Address;
  /** Number of blocks after which a transfer is final, counting the one that holds it. */
  readonly confirmations: number;
  /** Name and version of the token's EIP-712 domain. */
  domain(): Promise<{ readonly name: string; readonly version: string }>;
  /** Balance in base units, after the newest block, or after the block `atBlock` if the node still has its state. */
  balanceOf(address: string, atBlock?: number): Promise<bigint>;
  head(): Promise<Block>;
  /** The block of a height; null if there is none yet. */
  block(number: number): Promise<Block | null>;
  /**
   * Yields transfers in the order of the chain, without those of 0. Each was in the canonical chain when it was
   * read; for final ones only, read to `head().number - confirmations + 1`.
   * @throws chain_unavailable also when the chain has not reached `toBlock`
   */
  transfers(query: TransferQuery): AsyncIterable<TokenTransfer>;
  settled(txHash: string, expected: ExpectedTransfer): Promise<Settlement>;
  /** Whether an EIP-3009 authorisation was used or cancelled. `nonce` is 32 bytes, `0x` hex. */
  authorizationState(authorizer: string, nonce: string): Promise<boolean>;
  /** The transaction that used an authorisation, in a block from `fromBlock` on; null if there is none. */
  authorizationTx(authorizer: string, nonce: string, fromBlock: number): Promise<Hex | null>;
}

export interface TokenChainOptions {
  /** URL of the node; it may hold credentials. */
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly usdc: Address;
  readonly confirmations: number;
  /** Timeout for one request, to the last byte of its answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** Opens the token on a chain. Sends no request yet. */
export function openTokenChain(options: TokenChainOptions): TokenChain {
  const { chainId, usdc, confirmations } = options;
  const rpc = openRpc(options.rpcUrl, options.timeoutMs);
  const chain = { rpc, usdc };
  return {
    network: `eip155:${chainId}`,
    usdc,
    confirmations,
    domain: async () => ({
      name: await callText(chain, 'name'),
      version: await callText(chain, 'version'),
    }),
    balanceOf: (address, atBlock) =>
      rpc.call('eth_call', balanceCall(usdc, address, atBlock), answers.quantity),
    head: () => readHead(rpc),
    block: (number) => readBlock(rpc, number),
    transfers: (query) => transfers(chain, query),
    settled: (txHash, expected) => settled(chain, confirmations, txHash, expected),
    async authorizationState(authorizer, nonce) {
      const args = [authorizer as Address, nonce as Hex] as const;
      const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'authorizationState', args });
      return (await rpc.call('eth_call', [{ to: usdc, data }, 'latest'], answers.quantity)) === 1n;
    },
    async authorizationTx(authorizer, nonce, fromBlock) {
      const topics = [AUTHORIZATION_USED, addressTopic(authorizer), nonce];
      const { number: toBlock } = await readHead(rpc);
      for await (const logs of readLogs(chain, topics, fromBlock, toBlock)) {
        for (const { transactionHash } of logs) return transactionHash;
      }
      return null;
    },
  };
}

interface Chain {
  readonly rpc: Rpc;
  readonly usdc: Address;
}

function balanceCall(usdc: Address, address: string, atBlock: number | undefined): readonly unknown[] {
  const args = [address as Address] as const;
  const data = encodeFunctionData({ abi: USDC_ABI, functionName: 'balanceOf', args });
  return [{ to: usdc, data }, atBlock === undefined ? 'latest' : numberToHex(atBlock)];
}

async function callText({ rpc, usdc }: Chain, functionName: 'name' | 'version'): Promise<string> {
  const data = encodeFunctionData({ abi: USDC_ABI, functionName });
  const answer = await rpc.call('eth_call', [{ to: usdc, data }, 'latest'], answers.data);
  try {
    return decodeFunctionResult({ abi: USDC_ABI, functionName, data: answer });
  } catch {
    throw unavailable('eth_call', `answered without ${functionName}: is ${usdc} the token?`);
  }
}

async function readHead(rpc: Rpc): Promise<Block> {
  return toBlock(await rpc.call('eth_getBlockByNumber', ['latest', false], answers.block));
}

async function readBlock(rpc: Rpc, number: number): Promise<Block | null> {
  const params = [numberToHex(number), false];
  const block = await rpc.call('eth_getBlockByNumber', params, answers.block.nullable());
  return block && toBlock(block);
}

const toBlock = ({ number, hash, timestamp: time }: { number: number; hash: Hex; timestamp: number }) => ({
  number,
  hash,
  time,
});

async function* transfers(chain: Chain, query: TransferQuery): AsyncIterable<TokenTransfer> {
  const { from, to, fromBlock, toBlock } = query;
  const topics = [TRANSFER, addressTopic(from), addressTopic(to)];
  for await (const logs of readLogs(chain, topics, fromBlock, toBlock)) {
    const ordinals = new Map<string, number>();
    for (const log of logs) {
      const transfer = toTransfer(log);
      if (transfer.amount === 0n) continue;
      const ordinal = ordinals.get(transfer.txHash) ?? 0;
      ordinals.set(transfer.txHash, ordinal + 1);
      const [block, call] = await Promise.all([
        readBlock(chain.rpc, log.blockNumber),
        chain.rpc.call('eth_getTransactionByHash', [log.transactionHash], told.call.nullable()),
      ]);
      if (block?.hash !== log.blockHash || call?.blockHash !== log.blockHash) {
        throw unavailable(
          'eth_getLogs',
          'answered with logs of a block that is not in the chain, or no longer',
        );
      }
      yield {
        ...transfer,
        ordinal,
        blockTime: block.time,
        calldata: call.input,
        memo: memoOf(call, transfer, chain.usdc),
      };
    }
  }
}

async function settled(
  { rpc, usdc }: Chain,
  confirmations: number,
  txHash: string,
  expected: ExpectedTransfer,
): Promise<Settlement> {
  const method = 'eth_getTransactionReceipt';
  const receipt = await rpc.call(method, [txHash], told.receipt.nullable());
  if (receipt === null || receipt.blockNumber === null) {
    const known = await rpc.call('eth_getTransactionByHash', [txHash], told.call.nullable());
    return known === null ? 'missing' : 'pending';
  }
  if (receipt.transactionHash !== txHash.toLowerCase())
    throw unavailable(method, 'answered with the receipt of another transaction');
  const ofToken = receipt.logs.filter(({ address }) => address === usdc.toLowerCase());
  const moved = ofToken.filter(({ topics }) => topics[0] === TRANSFER).map(toTransfer);
  if (receipt.status !== 1n || !moved.some((one) => isExpected(one, expected))) return 'mismatch';
  const [block, head] = await Promise.all([readBlock(rpc, receipt.blockNumber), readHead(rpc)]);
  const isDeep = head.number - receipt.blockNumber + 1 >= confirmations;
  return isDeep && block?.hash === receipt.blockHash ? 'confirmed' : 'pending';
}

function isExpected(
  one: { readonly from: string; readonly to: string; readonly amount: bigint },
  { from, to, amount }: ExpectedTransfer,
): boolean {
  if (from !== undefined && one.from !== from.toLowerCase()) return false;
  return one.to === to.toLowerCase() && one.amount === amount;
}
