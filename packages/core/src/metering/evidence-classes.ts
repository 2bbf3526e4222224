/**
 * Classes of an evidence leaf, from the strongest to the weakest (spec/metering.md): `verified`, the whole receipt was
 * given and is valid; `logged`, its hash is in the log, or an anchor shows that it is in a trusted log;
 * `hashed`, only 32 bytes were given, which prove nothing.
 */
export const EVIDENCE_CLASSES = ['verified', 'logged', 'hashed'] as const;

export type EvidenceClass = (typeof EVIDENCE_CLASSES)[number];

/** Number of leaves of a bill by class. Each leaf counts once, in its best class. */
export type EvidenceCounts = {
  verified: number;
  logged: number;
  hashed: number;
  /** Among the verified: receipts whose issuer is verified by the trust given. */
  trusted: number;
  /** Among the verified: receipts that state a time of issue in the window of the bill. */
  issued_in_window: number;
};
