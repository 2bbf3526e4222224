import type { EvidenceCounts } from '@tallystick/core';
import type { Issued } from '../receipt-out.ts';

/** A bill's receipt, and its evidence counted by class; null if the service did not return the counts. */
export interface IssuedBill extends Issued {
  readonly counts: EvidenceCounts | null;
}
