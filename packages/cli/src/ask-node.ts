import {
  type AnchorTransaction,
  isObject,
  type JsonValue,
  type SettlementTransaction,
  settlementOf,
} from '@tallystick/core';
import { chainAnswer } from './anchor/verify-anchor.ts';
import { fetchSettlement } from './chain/fetch-transaction.ts';
import type { Answer } from './chain/node.ts';
import { UsageError } from './output.ts';
import type { TrustSource } from './trust-sources.ts';

/** A node's answers; each is null if the question was not asked. */
export interface NodeAnswers {
  readonly anchor: Answer<AnchorTransaction> | null;
  readonly settlement: Answer<SettlementTransaction> | null;
}

/**
 * Asks one node about a receipt's anchor and about the transaction that it names as its settlement, of which it may
 * have either. Returns both answers.
 * @param given the JSON of `--anchor`
 * @throws UsageError if there is nothing to ask about, or the node is of another chain or doesn't answer
 */
export async function askNode(
  receipt: JsonValue,
  given: JsonValue | undefined,
  { rpc, sources }: { readonly rpc: string; readonly sources: readonly TrustSource[] },
): Promise<NodeAnswers> {
  const named = settlementOf(receipt);
  const chainId = named?.chainId ?? null;
  if (named === null || chainId === null) {
    return { anchor: await chainAnswer(receipt, given, { rpc, sources }), settlement: null };
  }
  const isAnchored = given !== undefined || (isObject(receipt) && (receipt.anchor ?? null) !== null);
  const anchor = isAnchored ? await chainAnswer(receipt, given, { rpc, sources }) : null;
  try {
    return { anchor, settlement: await fetchSettlement(named, chainId, rpc) };
  } catch (error) {
    // A receipt may be paid on one chain and anchored on another.
    const isElsewhere = error instanceof UsageError && error.code === 'chain_mismatch';
    if (anchor !== null && isElsewhere) return { anchor, settlement: null };
    throw error;
  }
}
