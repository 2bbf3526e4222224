/** Why a bundle is refused: stable names, in the order in which a verifier comes upon them (spec/evidence.md). */
export const EVIDENCE_REASONS = [
  'zip_end',
  'zip_count',
  'zip_directory',
  'zip_compressed',
  'zip_size',
  'zip_name_absolute',
  'zip_name_traversal',
  'zip_name',
  'zip_duplicate',
  'zip_range',
  'zip_overlap',
  'zip_gap',
  'zip_header',
  'manifest_missing',
  'manifest_size',
  'manifest_malformed',
  'manifest_signature',
  'manifest_issuer',
  'trust_refused',
  'file_renamed',
  'file_missing',
  'file_added',
  'file_order',
  'file_size',
  'file_crc',
  'file_changed',
  'receipt_invalid',
  'receipt_twice',
  'receipt_period',
  'receipt_count',
  'anchor_unmatched',
  'metering_mismatch',
  'purge_invalid',
  'stream_invalid',
] as const;
export type EvidenceReason = (typeof EVIDENCE_REASONS)[number];

/** Thrown when a bundle is refused. `path` names the file of the bundle that is at fault, if it is one file. */
export class EvidenceFault extends Error {
  override readonly name = 'EvidenceFault';
  readonly reason: EvidenceReason;
  readonly path: string | null;

  constructor(reason: EvidenceReason, message: string, path: string | null = null) {
    super(message);
    this.reason = reason;
    this.path = path;
  }
}
