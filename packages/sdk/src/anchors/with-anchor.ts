import { anchoredHash, canonicalize, type JsonObject } from '@tallystick/core';
import { type ReceiptInput, readReceipt } from '../receipts/read.ts';
import type { Anchor } from './anchor.ts';

/**
 * Puts a receipt's anchor into its members `anchor_ref` and, once it is anchored, `anchor`, so that one file
 * holds the receipt and its proof. No signature covers them, and the anchored hash stays the same.
 * @returns the JCS text of the receipt
 * @throws json_*; not_a_receipt, also for nano and metering receipts, which have no such members: store their anchors
 * in files of their own
 */
export function withAnchor(receipt: ReceiptInput, anchor: Anchor): string {
  const document = readReceipt(receipt) as JsonObject;
  const proof = 'batch_id' in anchor ? {} : { anchor: readReceipt(anchor) };
  const carrying = { ...document, anchor_ref: anchor.anchor_ref, ...proof };
  anchoredHash(carrying);
  return canonicalize(carrying);
}
