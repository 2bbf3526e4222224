import type { EvidenceCounts } from '@tallystick/core';
import type { Issued } from '../receipt-out.ts';

/** A bill's receipt, and what its evidence was found to be; null where the service did not say. */
export interface IssuedBill extends Issued {
  readonly counts: EvidenceCounts | null;
}
