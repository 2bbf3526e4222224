import {
  checkBill,
  type EvidenceClass,
  EvidenceIntake,
  evidenceVerifier,
  type JsonObject,
  mintMetering,
  type Signer,
} from '@tallystick/core';
import { leadingTrust } from '../evaluate.ts';
import { trustSources } from '../trust-sources.ts';
import type { IssuedBill } from './issued-bill.ts';
import { takeEvidence } from './read-evidence.ts';
import { nodeSha256 } from './sha256.ts';

/**
 * Mints a bill's receipt locally, with the user's own key. Whole receipts in the evidence are verified by the saved
 * bundles.
 * @param path the evidence file
 * @param policy least class of evidence that is accepted
 * @throws what `checkBill` and `takeEvidence` do
 */
export async function signBill(
  bill: JsonObject,
  path: string,
  { signer, policy }: { readonly signer: Signer; readonly policy: EvidenceClass | undefined },
): Promise<IssuedBill> {
  const now = Date.now();
  const checked = checkBill(bill, { now });
  const { sources } = await trustSources(undefined, { now, root: undefined });
  const verifier = evidenceVerifier({ now, ...leadingTrust(sources, now) });
  const intake = new EvidenceIntake(checked, verifier, { policy, hash: nodeSha256 });
  const { counts, ...summary } = await takeEvidence(path, intake);
  const text = await mintMetering(checked, summary, { now }, signer);
  const { receipt_id: receiptId } = JSON.parse(text) as { receipt_id: string };
  return { text, receiptId, counts };
}
