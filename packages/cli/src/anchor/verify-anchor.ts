import {
  type AnchoredResult,
  type AnchorTransaction,
  isObject,
  type JsonValue,
  parseAnchorRef,
  readAnchoredResult,
  TallyError,
} from '@tallystick/core';
import { fetchAnchorTransaction } from '../chain/fetch-transaction.ts';
import type { Answer } from '../chain/node.ts';
import { readJson } from '../input.ts';
import { asUsage, UsageError } from '../output.ts';
import type { TrustSource } from '../trust-sources.ts';

/** Reads the JSON of `--anchor`, to be judged later. Invalid JSON is no fault of the receipt. @throws UsageError */
export async function readAnchor(path: string | undefined): Promise<JsonValue | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readJson(path);
  } catch (error) {
    throw asUsage(error);
  }
}

/**
 * Asks the chain about a receipt's anchor: the one that was given, or else the one in the receipt. Null if the given one
 * can't be read, which the verdict then reports.
 * @throws UsageError where there is nothing to ask about, and as `askAnchor`
 */
export async function chainAnswer(
  receipt: JsonValue,
  given: JsonValue | undefined,
  { rpc, sources }: { readonly rpc: string; readonly sources: readonly TrustSource[] },
): Promise<Answer<AnchorTransaction> | null> {
  const carried = isObject(receipt) ? (receipt.anchor ?? null) : null;
  const result = resultIn(given ?? carried, given !== undefined);
  if (result === null) return null;
  return fetchAnchorTransaction(result, rpc, sources);
}

function resultIn(anchor: JsonValue, isGiven: boolean): AnchoredResult | null {
  try {
    return readAnchoredResult(anchor);
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    if (isPending(anchor)) throw new UsageError('The anchor is still pending: it is not on a chain yet.');
    if (isGiven) return null;
    const why =
      anchor === null
        ? 'The receipt contains no anchored result'
        : `Its anchor can’t be read: ${error.message}`;
    throw new UsageError(`${why.replace(/\.$/, '')}. Give one with --anchor, as tally anchor get writes it.`);
  }
}

function isPending(anchor: JsonValue): boolean {
  if (!isObject(anchor) || typeof anchor.anchor_ref !== 'string') return false;
  try {
    return parseAnchorRef(anchor.anchor_ref).kind === 'pending';
  } catch (error) {
    if (error instanceof TallyError) return false;
    throw error;
  }
}
