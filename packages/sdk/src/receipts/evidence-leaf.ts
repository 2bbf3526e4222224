import { anchoredHash, type EvidenceLeaf } from '@tallystick/core';
import { type ReceiptInput, readReceipt } from './read.ts';

/**
 * The leaf by which a receipt backs a billed unit: its anchored hash beside the unit's number.
 * @param unit 1 to the count of billed units
 * @throws not_a_receipt, json_*
 */
export function evidenceLeaf(unit: number, receipt: ReceiptInput): EvidenceLeaf {
  return { unit, receipt_sha256: anchoredHash(readReceipt(receipt)) };
}
