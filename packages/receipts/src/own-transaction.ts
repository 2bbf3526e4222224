import {
  type AnchorAuthority,
  type AnchoredResult,
  type AnchorTransaction,
  encodePosting,
  type JsonValue,
  parseAnchorRef,
  readAnchoredResult,
  TallyError,
  toHex,
} from '@tallystick/core';
import type { LogStore } from '@tallystick/log';

/**
 * The transaction of an anchored result, as this service saw it become final; undefined where it is none of its own
 * postings, so that only the chain could tell.
 * @param anchors the service's own
 */
export async function ownTransaction(
  { log }: { readonly log: LogStore },
  { log: own, chain }: AnchorAuthority,
  anchor: JsonValue,
): Promise<AnchorTransaction | undefined> {
  const result = read(anchor);
  if (result === null || own === null || chain === null) return undefined;
  const posting = await log.postingOf(parseAnchorRef(result.anchor_ref).index);
  if (posting?.state !== 'finalized' || posting.place?.txHash !== result.tx_hash) return undefined;
  const { txHash, blockHeight, blockTime } = posting.place;
  const { size, root } = posting;
  const data = `0x${toHex(encodePosting({ origin: own.origin, size, root }))}`;
  return { chainId: chain.chain_id, txHash, blockHeight, blockTime, from: chain.address, data };
}

function read(anchor: JsonValue): AnchoredResult | null {
  try {
    return anchor === null ? null : readAnchoredResult(anchor);
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
