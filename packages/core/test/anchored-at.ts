import { anchorOf, authority } from '../../../scripts/vectors/anchor-base.ts';
import { type AnchorAuthority, formatTimestamp, type JsonObject } from '../src/index.ts';
import { transactionOf } from './receipt-vectors.ts';

/** The log and the account whose anchors `anchoredAt` makes. */
export const anchors: readonly AnchorAuthority[] = [authority];

/** The options of `verify` that prove the receipt's existence at a whole second, in Unix milliseconds; none without. */
export async function anchoredAt(document: JsonObject, time: number | undefined) {
  if (time === undefined) return {};
  const { anchor, transaction } = await anchorOf(document, { at: formatTimestamp(time) });
  return { anchor, transaction: transactionOf(transaction) };
}
