import { utf8 } from '../encoding/bytes.ts';

/** The evidence behind one billed unit: the anchored hash (64 hex) of the receipt that backs it. */
export type EvidenceLeaf = {
  unit: number;
  receipt_sha256: string;
};

/** The JCS of a leaf (RFC 8785), in UTF-8. */
export function leafBytes({ unit, receipt_sha256 }: EvidenceLeaf): Uint8Array {
  return utf8(`{"receipt_sha256":"${receipt_sha256}","unit":${unit}}`);
}
