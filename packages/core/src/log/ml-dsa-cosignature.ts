import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { toUint64 } from '../encoding/uint64.ts';
import { TallyError } from '../errors.ts';
import type { Checkpoint } from './checkpoint.ts';

/**
 * What a witness signs by ML-DSA-44: the structure `cosigned_message` of a whole tree (C2SP tlog-cosignature, "ML-DSA-44
 * signed message"). Extension lines of the checkpoint are not in it.
 * @throws note_invalid for a name or an origin that it has no room for
 */
export function mlDsaMessage(name: string, time: number, { origin, size, root }: Checkpoint): Uint8Array {
  return concatBytes(
    utf8('subtree/v1\n\0'),
    shortText(name),
    toUint64(time),
    shortText(origin),
    toUint64(0),
    toUint64(size),
    root,
  );
}

/** A text of 1 to 255 bytes after its length (RFC 8446, section 3.4). */
function shortText(text: string): Uint8Array {
  const bytes = utf8(text);
  if (bytes.length === 0 || bytes.length > 255)
    throw new TallyError('note_invalid', 'ML-DSA cosignatures take names and origins of 1 to 255 bytes.');
  return concatBytes(Uint8Array.of(bytes.length), bytes);
}
