import { toHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { EVIDENCE_CLASSES, type EvidenceClass } from './evidence-classes.ts';

/**
 * Refuses an item of evidence whose class is below the one that the policy requires.
 * @param path what the error calls the item
 * @param hash the anchored hash of its leaf, 32 bytes
 * @throws metering_evidence_policy
 */
export function requireClass(
  found: EvidenceClass,
  policy: EvidenceClass,
  { path, hash }: { readonly path: string; readonly hash: Uint8Array },
): void {
  if (EVIDENCE_CLASSES.indexOf(found) <= EVIDENCE_CLASSES.indexOf(policy)) return;
  const [lack, required] =
    policy === 'verified'
      ? ['without its receipt', 'whole receipts']
      : ['that is in no known log', 'whole receipts, or hashes that are in the log'];
  throw new TallyError(
    'metering_evidence_policy',
    `${path} is a hash ${lack}: ${toHex(hash)}. The evidence policy “${policy}” asks for ${required}.`,
    { field: path },
  );
}
