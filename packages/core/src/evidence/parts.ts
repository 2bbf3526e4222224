import { canonicalize } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';
import { isObject } from '../receipts/shape.ts';

/** The files that every bundle has, by what they hold. */
export const EVIDENCE_PATHS = {
  manifest: 'manifest.json',
  readme: 'README.md',
  page: 'evidence.html',
  verifier: 'verify.html',
  trust: 'trust/trust.json',
  issuer: 'trust/issuer.json',
  checkpoint: 'log/checkpoint.txt',
  purges: 'purges.ndjson',
  exports: 'exports.ndjson',
  heads: 'stream/heads.ndjson',
} as const;

/** The three folders in which one part of the receipts lies; `number` counts from 1. */
export function partPaths(number: number): { receipts: string; anchors: string; metering: string } {
  const name = `${String(number).padStart(6, '0')}.ndjson`;
  return { receipts: `receipts/${name}`, anchors: `anchors/${name}`, metering: `metering/${name}` };
}

/** The file of one part of the stream's hashes; `number` counts from 1. */
export function hashesPath(number: number): string {
  return `stream/${String(number).padStart(6, '0')}.ndjson`;
}

/** Returns the digest of a metering receipt's evidence, as a line of a bundle; null for any other receipt. */
export function meteringDigest(receipt: JsonObject): string | null {
  const { receipt_id = null, signed_body: body } = receipt;
  if (!isObject(body) || body.receipt_type !== 'sls.metering' || !isObject(body.metered)) return null;
  const {
    billed_unit_count = null,
    evidence_backed_unit_count = null,
    receipt_set_digest = null,
  } = body.metered;
  const { metering_id = null } = body;
  return canonicalize({
    receipt_id,
    metering_id,
    billed_unit_count,
    evidence_backed_unit_count,
    receipt_set_digest,
  });
}
