import { anchoredHash, type EvidenceLeaf, type JsonObject, type ReceiptEvidence } from '@tallystick/core';
import { type ReceiptInput, readReceipt } from './read.ts';

/**
 * Makes the leaf by which a receipt backs a billed unit: the receipt's anchored hash and the unit's number.
 * @param unit 1 to the count of billed units
 * @throws not_a_receipt, json_*
 */
export function evidenceLeaf(unit: number, receipt: ReceiptInput): EvidenceLeaf {
  return { unit, receipt_sha256: anchoredHash(readReceipt(receipt)) };
}

/**
 * Makes an item of evidence with the whole receipt, so that whoever gets it can verify it. Its leaf follows from it.
 * @param unit 1 to the count of billed units
 * @param anchor the receipt's anchored result, if there is one
 * @throws json_* for a text that is not JSON
 */
export function evidenceReceipt(unit: number, receipt: ReceiptInput, anchor?: ReceiptInput): ReceiptEvidence {
  return {
    unit,
    receipt: readReceipt(receipt) as JsonObject,
    ...(anchor !== undefined && { anchor: readReceipt(anchor) as JsonObject }),
  };
}
