import {
  type AnchorTransaction,
  isObject,
  type JsonObject,
  type JsonValue,
  readNodeTransaction,
  type SettlementTransaction,
  TallyError,
} from '@tallystick/core';
import { openRpc, unavailable } from './rpc.ts';

const TIMEOUT_MS = 15_000;
/** The topic of `Transfer(address,address,uint256)` (ERC-20). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** A node's answer about a transaction. */
export interface Answer<T> {
  readonly chainId: number;
  /** The transaction; null if the canonical chain has none. */
  readonly transaction: T | null;
  /** Whether the node calls the block final. */
  readonly final: boolean;
}

/**
 * A node of one of some EVM chains, over HTTP, without a key. It is trusted for the block of a transaction and for
 * the tokens that it moved; the sender and the data follow from the transaction's hash.
 *
 * Errors: all methods reject with chain_unavailable when the node can't be reached, times out or gives no valid answer.
 */
export interface ChainNode {
  /** Fetches the EIP-1559 transaction of a hash. */
  anchorOf(txHash: string): Promise<Answer<AnchorTransaction>>;
  /** Fetches the transfers of tokens by the transaction of a hash. */
  settlementOf(txHash: string): Promise<Answer<SettlementTransaction>>;
}

/**
 * @param chainIds EIP-155 ids of the chains of which the node may be one
 * @throws chain_mismatch if it is of another chain; chain_unavailable
 */
export async function openNode(
  rpcUrl: string,
  chainIds: readonly number[],
  timeoutMs: number = TIMEOUT_MS,
): Promise<ChainNode> {
  const rpc = openRpc(rpcUrl, timeoutMs);
  const chainId = integer(await rpc('eth_chainId', []));
  if (chainId === null) throw nonsense('eth_chainId');
  if (!chainIds.includes(chainId)) {
    const expected = chainIds.join(' or ');
    throw new TallyError(
      'chain_mismatch',
      `The node is of chain ${chainId}; chain ${expected} is configured.`,
    );
  }

  async function block(at: string): Promise<Block | null> {
    const method = 'eth_getBlockByNumber';
    const result = await rpc(method, [at, false]);
    return result === null ? null : (blockIn(result) ?? fail(method));
  }

  /** Block, position and logs of a transaction on the canonical chain. */
  async function included(txHash: string): Promise<Inclusion | null> {
    const method = 'eth_getTransactionReceipt';
    const result = await rpc(method, [txHash]);
    if (result === null) return null;
    const receipt = receiptIn(result) ?? fail(method);
    if (receipt.transactionHash !== txHash) throw unavailable(method, 'answered another receipt');
    const { blockHeight, transfers } = receipt;
    if (blockHeight === null) return null;
    const found = await block(`0x${blockHeight.toString(16)}`);
    if (found === null || found.hash !== receipt.blockHash) return null;
    if (!found.transactions.includes(txHash)) {
      throw unavailable(method, 'answered a receipt of a block that does not hold the transaction');
    }
    return { blockHeight, blockTime: found.time, transfers };
  }

  const isFinal = async (height: number): Promise<boolean> =>
    height <= ((await block('finalized'))?.height ?? -1);

  return {
    async anchorOf(txHash) {
      const method = 'eth_getTransactionByHash';
      const result = await rpc(method, [txHash]);
      const nothing = { chainId, transaction: null, final: false };
      if (result === null || integer(object(result).type) !== 2) return nothing;
      const read = readNodeTransaction(result as JsonValue, txHash);
      if (read === null) throw unavailable(method, 'answered what is not that transaction');
      if (read.chainId !== chainId) throw unavailable(method, 'answered a transaction of another chain');
      const place = await included(txHash);
      if (place === null) return nothing;
      const { blockHeight, blockTime } = place;
      const { from, data } = read;
      const transaction = { chainId, txHash, blockHeight, blockTime, from, data };
      return { chainId, transaction, final: await isFinal(blockHeight) };
    },
    async settlementOf(txHash) {
      const place = await included(txHash);
      if (place === null) return { chainId, transaction: null, final: false };
      const { blockHeight, transfers } = place;
      const transaction = { chainId, txHash, blockHeight, transfers };
      return { chainId, transaction, final: await isFinal(blockHeight) };
    },
  };
}

interface Inclusion {
  readonly blockHeight: number;
  /** Time of the block, in Unix seconds. */
  readonly blockTime: number;
  readonly transfers: SettlementTransaction['transfers'];
}

interface Block {
  readonly height: number;
  readonly hash: string;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
  readonly transactions: readonly (string | null)[];
}

interface Receipt {
  readonly transactionHash: string;
  /** Null with some older nodes until a block holds the transaction. */
  readonly blockHeight: number | null;
  readonly blockHash: string | null;
  readonly transfers: SettlementTransaction['transfers'];
}

function blockIn(result: unknown): Block | null {
  const { number, hash, timestamp, transactions } = object(result);
  const [height, time, id] = [integer(number), integer(timestamp), hex(hash, 32)];
  if (height === null || time === null || id === null || !Array.isArray(transactions)) return null;
  return { height, hash: id, time, transactions: transactions.map((one) => hex(one, 32)) };
}

function receiptIn(result: unknown): Receipt | null {
  const { transactionHash, blockNumber = null, blockHash = null, logs } = object(result);
  const [hash, height, block] = [hex(transactionHash, 32), integer(blockNumber), hex(blockHash, 32)];
  if (hash === null || !Array.isArray(logs)) return null;
  if ((height === null) !== (blockNumber === null) || (block === null) !== (blockHash === null)) return null;
  const transfers = logs.map(transfersIn);
  if (transfers.includes(null)) return null;
  return {
    transactionHash: hash,
    blockHeight: height,
    blockHash: block,
    transfers: transfers.flatMap((found) => found ?? []),
  };
}

/** The ERC-20 transfer in a log, if any; ERC-721's have a fourth topic instead of data. Null if the log is malformed. */
function transfersIn(log: JsonValue): SettlementTransaction['transfers'] | null {
  const { address, topics, data } = object(log);
  const token = hex(address, 20);
  if (token === null || !Array.isArray(topics) || hex(data) === null) return null;
  const [topic, from, to, ...rest] = topics.map((one) => hex(one, 32));
  if (topic !== TRANSFER || rest.length > 0) return [];
  const amount = hex(data, 32);
  if (!from || !to || amount === null) return [];
  return [{ token, from: `0x${from.slice(26)}`, to: `0x${to.slice(26)}`, amount: BigInt(amount) }];
}

function object(value: unknown): JsonObject {
  return isObject(value as JsonValue) ? (value as JsonObject) : {};
}

/** Lower-case `0x` hex, of the given number of bytes if any; null for anything else. */
function hex(value: unknown, bytes?: number): string | null {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return null;
  return bytes === undefined || value.length === 2 + 2 * bytes ? value.toLowerCase() : null;
}

function integer(value: unknown): number | null {
  const number = typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? Number(value) : null;
  return Number.isSafeInteger(number) ? number : null;
}

function nonsense(method: string): TallyError {
  return unavailable(method, 'answered nonsense');
}

function fail(method: string): never {
  throw nonsense(method);
}
