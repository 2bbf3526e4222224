import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { type Sha256, sha256 } from '../hash.ts';

const OPENING = 'svc-stream-v1';
const STEP = Uint8Array.of(2);

/** The head of a stream that counts nothing: SHA-256 over `svc-stream-v1`, a line feed and the stream's id. */
export function streamStart(stream: string, digest: Sha256 = sha256): Uint8Array {
  return digest(utf8(`${OPENING}\n${stream}`));
}

/**
 * The head after one more receipt (spec/streams.md).
 * @param head 32 bytes
 * @param anchored the receipt's anchored hash, 32 bytes
 */
export function nextStreamHead(head: Uint8Array, anchored: Uint8Array, digest: Sha256 = sha256): Uint8Array {
  return digest(concatBytes(STEP, head, anchored));
}
