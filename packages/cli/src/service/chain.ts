import {
  type AnchoredResult,
  type AnchorTransaction,
  type NamedSettlement,
  TallyError,
} from '@tallystick/core';
import { type ChainReader, openChainReader, readSettlement, type SettlementAnswer } from '@tallystick/server';
import { asUsage, UsageError } from '../output.ts';
import type { TrustSource } from '../trust-sources.ts';

const TIMEOUT_MS = 15_000;

export type { SettlementAnswer } from '@tallystick/server';

/** What a node says of an anchor's transaction. */
export interface ChainAnswer {
  readonly chainId: number;
  /** Null where the chain has none. */
  readonly transaction: AnchorTransaction | null;
  /** Whether the node calls the block final. */
  readonly final: boolean;
}

/**
 * Reads the transaction of an anchored result from the chain that the trust names.
 * @param rpcUrl a node of that chain; it may hold a secret
 * @throws UsageError where no trust names the chain, or the node is of another one or doesn't answer: that is not the
 * receipt's fault
 */
export async function askChain(
  { network, tx_hash }: AnchoredResult,
  rpcUrl: string,
  sources: readonly TrustSource[],
): Promise<ChainAnswer> {
  const chains = sources.flatMap(({ bundle }) => bundle.chain ?? []).filter((one) => one.network === network);
  const ids = [...new Set(chains.map(({ chain_id }) => chain_id))];
  if (ids.length === 0) {
    throw new UsageError(
      `No saved trust says which chain “${network}” is, so it can’t be asked. Fetch the trust of the anchor’s service: tally trust fetch <url>`,
    );
  }
  try {
    return await read(await readerOf(ids, rpcUrl), tx_hash);
  } catch (error) {
    throw asUsage(error);
  }
}

/** The reader for the one of the chains that the node is of. @throws chain_mismatch, chain_unavailable */
async function readerOf(ids: readonly number[], rpcUrl: string): Promise<ChainReader> {
  let mismatch: TallyError | null = null;
  for (const chainId of ids) {
    const reader = await openChainReader({
      rpcUrl,
      chainId,
      finality: { kind: 'finalized' },
      timeoutMs: TIMEOUT_MS,
    });
    try {
      await reader.check();
      return reader;
    } catch (error) {
      if (!(error instanceof TallyError) || error.code !== 'chain_mismatch') throw error;
      mismatch = error;
    }
  }
  throw mismatch ?? new Error('There was no chain to ask.');
}

async function read(reader: ChainReader, txHash: string): Promise<ChainAnswer> {
  const { chainId } = reader;
  const found = await reader.transaction(txHash);
  if (found === null) return { chainId, transaction: null, final: false };
  const { from, data, inclusion } = found;
  const { blockHeight, blockTime } = inclusion;
  return {
    chainId,
    transaction: { chainId, txHash, blockHeight, blockTime, from, data },
    final: blockHeight <= (await reader.finalHeight()),
  };
}

/**
 * Asks which tokens the transaction has moved that a receipt names as its settlement. The receipt itself says which
 * chain that is.
 * @throws UsageError where the node is of another chain or doesn't answer
 */
export async function askSettlement(
  { tx }: NamedSettlement,
  chainId: number,
  rpcUrl: string,
): Promise<SettlementAnswer> {
  try {
    return await readSettlement({ rpcUrl, chainId, timeoutMs: TIMEOUT_MS }, tx);
  } catch (error) {
    throw asUsage(error);
  }
}
