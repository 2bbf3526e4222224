import { anchorOf, authority } from '../../../scripts/vectors/anchor-base.ts';
import { type AnchorAuthority, formatTimestamp, type JsonObject } from '../src/index.ts';
import { transactionOf } from './receipt-vectors.ts';

/** The log and the posting account of the anchors that `anchoredAt` makes. */
export const anchors: readonly AnchorAuthority[] = [authority];

/** Options of `verify` that prove that the receipt existed at `time`, a whole second in Unix milliseconds; none without it. */
export async function anchoredAt(document: JsonObject, time: number | undefined) {
  if (time === undefined) return {};
  const { anchor, transaction } = await anchorOf(document, { at: formatTimestamp(time) });
  return { anchor, transaction: transactionOf(transaction) };
}
