import type {
  AnchoredResult,
  AnchorTransaction,
  NamedSettlement,
  SettlementTransaction,
} from '@tallystick/core';
import { asUsage, UsageError } from '../output.ts';
import type { TrustSource } from '../trust-sources.ts';
import { type Answer, openNode } from './node.ts';

/**
 * Reads the transaction of an anchored result from the chain that the trust names.
 * @param rpcUrl URL of a node of that chain; it may hold a secret
 * @throws UsageError if no trust names the chain, or the node is of another chain or doesn't answer: that is not the
 * receipt's fault
 */
export async function fetchAnchorTransaction(
  { network, tx_hash }: AnchoredResult,
  rpcUrl: string,
  sources: readonly TrustSource[],
): Promise<Answer<AnchorTransaction>> {
  const chains = sources.flatMap(({ bundle }) => bundle.chain ?? []).filter((one) => one.network === network);
  const ids = [...new Set(chains.map(({ chain_id }) => chain_id))];
  if (ids.length === 0) {
    throw new UsageError(
      `No saved trust says which chain “${network}” is, so it can’t be asked. Fetch the trust of the anchor’s service: tally trust fetch <url>`,
    );
  }
  try {
    return await (await openNode(rpcUrl, ids)).anchorOf(tx_hash);
  } catch (error) {
    throw asUsage(error);
  }
}

/**
 * Fetches the token transfers of the transaction that a receipt names as its settlement. The receipt itself names the
 * chain.
 * @throws UsageError if the node is of another chain or doesn't answer
 */
export async function fetchSettlement(
  { tx }: NamedSettlement,
  chainId: number,
  rpcUrl: string,
): Promise<Answer<SettlementTransaction>> {
  try {
    return await (await openNode(rpcUrl, [chainId])).settlementOf(tx);
  } catch (error) {
    throw asUsage(error);
  }
}
