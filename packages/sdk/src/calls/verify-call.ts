import { type CallInput, type CallVerdict, verifyCall as verifyCallBy } from '@tallystick/core';
import { readReceipt } from '../receipts/read.ts';
import type { VerifyReceiptOptions } from '../receipts/verify-receipt.ts';
import { knownIssuers } from '../trust/known-issuers.ts';

export type VerifyCallParams = CallInput & Omit<VerifyReceiptOptions, 'evidence'>;

/**
 * Verifies an inference call of any protocol locally, without the network: its receipt, and that the receipt covers this
 * request and this answer. What can't be read is a failed check, not an error.
 * @throws trust_expired, trust_unavailable for a store that holds nothing; issuer_proof_invalid for a record that does not
 * follow from its history; json_* for an anchor that is not JSON
 */
export async function verifyCall({
  trust,
  issuer,
  now = Date.now(),
  anchor,
  ...call
}: VerifyCallParams): Promise<CallVerdict> {
  return verifyCallBy({
    ...call,
    now,
    trust: await knownIssuers({ trust, issuer }, now),
    anchor: anchor === undefined ? undefined : readReceipt(anchor),
  });
}
