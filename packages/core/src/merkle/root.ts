import { CompactRange } from './compact-range.ts';

/** The RFC 6962 root over leaf hashes of 32 bytes each, read once, in order, in bounded memory. */
export function merkleRoot(leafHashes: Iterable<Uint8Array>): Uint8Array {
  const range = new CompactRange();
  for (const leafHash of leafHashes) range.append(leafHash);
  return range.root();
}
