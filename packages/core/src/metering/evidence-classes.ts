/**
 * What stands behind an evidence leaf, from the most to the least (spec/metering.md): `verified`, the whole receipt was
 * given and is valid; `logged`, its hash is in the log, or an anchor shows that it is in a log that is trusted;
 * `hashed`, there are 32 bytes that say nothing.
 */
export const EVIDENCE_CLASSES = ['verified', 'logged', 'hashed'] as const;

export type EvidenceClass = (typeof EVIDENCE_CLASSES)[number];

/** Number of leaves of a bill by class. Each leaf counts once, in its best class. */
export type EvidenceCounts = {
  verified: number;
  logged: number;
  hashed: number;
  /** Among the verified: those of an issuer that the trust given calls verified. */
  trusted: number;
  /** Among the verified: those that say they were issued in the window of the bill. */
  issued_in_window: number;
};
