import { concatBytes, equalBytes, utf8 } from '../encoding/bytes.ts';
import { toUint64, uint64At } from '../encoding/uint64.ts';
import { sha256 } from '../hash.ts';
import { type Checkpoint, checkpointText } from './checkpoint.ts';

/** A tree head as it is posted on the chain. */
export interface PostedHead {
  readonly originSha256: Uint8Array;
  readonly size: number;
  readonly root: Uint8Array;
}

const tag = utf8('svc-anchor-v1');
const SIZE_AT = tag.length + 32;
const ROOT_AT = SIZE_AT + 8;
const LENGTH = ROOT_AT + 32;

/**
 * The calldata that posts a tree head, 85 bytes: `svc-anchor-v1` || SHA-256(origin) || size (8 bytes, big-endian) ||
 * root.
 * @throws checkpoint_invalid
 */
export function encodePosting(checkpoint: Checkpoint): Uint8Array {
  checkpointText(checkpoint);
  const { origin, size, root } = checkpoint;
  return concatBytes(tag, sha256(utf8(origin)), toUint64(size), root);
}

/** The tree head in calldata, or null for all that `encodePosting` would not write. */
export function decodePosting(data: Uint8Array): PostedHead | null {
  if (data.length !== LENGTH || !equalBytes(data.slice(0, tag.length), tag)) return null;
  const size = uint64At(data, SIZE_AT);
  if (size === null) return null;
  return { originSha256: data.slice(tag.length, SIZE_AT), size, root: data.slice(ROOT_AT) };
}
