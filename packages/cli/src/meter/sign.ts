import { checkBill, EvidenceTally, type JsonObject, mintMetering, type Signer } from '@tallystick/core';
import type { Issued } from '../receipt-out.ts';
import { atLine } from './evidence.ts';
import { watchedEvidence } from './progress.ts';
import { nodeSha256 } from './sha256.ts';

/**
 * Mints a bill's receipt here, with one's own key.
 * @param path the evidence file
 * @throws what `checkBill` and `readEvidence` do; metering_unit_* and metering_receipt_twice with file and line
 */
export async function signBill(bill: JsonObject, path: string, signer: Signer): Promise<Issued> {
  const now = Date.now();
  const checked = checkBill(bill, { now });
  const tally = new EvidenceTally(checked.billed_unit_count, nodeSha256);
  for (const { number, json } of watchedEvidence(path)) {
    try {
      tally.addJson(json, 'leaf');
    } catch (error) {
      throw atLine(error, path, number);
    }
  }
  const text = await mintMetering(checked, tally.summary(), { now }, signer);
  const { receipt_id: receiptId } = JSON.parse(text) as { receipt_id: string };
  return { text, receiptId };
}
