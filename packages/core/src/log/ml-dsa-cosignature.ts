import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { toUint64, uint64At } from '../encoding/uint64.ts';
import { TallyError } from '../errors.ts';
import { ML_DSA_44, verifyMlDsa } from '../ml-dsa/ml-dsa.ts';
import { type Checkpoint, isBy, parseCheckpointText } from './checkpoint.ts';
import { formatNote, formatSignature, nameSyntax, noteKeyHash, parseNote } from './note.ts';
import type { VerifierKey } from './verifier-key.ts';

/** The signature type of timestamped ML-DSA-44 cosignatures (C2SP tlog-cosignature). */
const ML_DSA_COSIGNATURE = 0x06;

/** A witness that signs by ML-DSA-44: `publicKey` has 1,312 bytes. */
export interface MlDsaWitness extends VerifierKey {
  /** Returns the pure signature with the empty context: 2,420 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/**
 * The structure `cosigned_message` of a whole tree (C2SP tlog-cosignature, "ML-DSA-44 signed message"). Extension lines
 * of the checkpoint are not in it.
 */
function message(name: string, time: number, { origin, size, root }: Checkpoint): Uint8Array {
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

/**
 * As `cosignCheckpoint`, by ML-DSA-44, which is experimental.
 * @param time Unix seconds from 1: 0 would say nothing of when
 * @throws note_invalid, checkpoint_invalid, invalid_field for a time that is no such number
 */
export async function cosignByMlDsa(note: string, witness: MlDsaWitness, time: number): Promise<string> {
  const { text } = parseNote(note);
  if (!Number.isSafeInteger(time) || time < 1) {
    throw new TallyError('invalid_field', 'The time of a cosignature is a whole number of Unix seconds.');
  }
  const { name, publicKey } = witness;
  const signed = await witness.sign(message(name, time, parseCheckpointText(text)));
  const keyHash = noteKeyHash(name, ML_DSA_COSIGNATURE, publicKey);
  const line = { name, keyHash, signature: concatBytes(toUint64(time), signed) };
  formatNote({ text, signatures: [line] });
  return formatSignature(line);
}

/**
 * As `checkCosignature`, by ML-DSA-44. A signature whose time is 0 makes no statement that the tree was the largest, and
 * counts as none.
 * @throws note_invalid, checkpoint_invalid
 */
export function checkMlDsaCosignature(note: string, { name, publicKey }: VerifierKey): number | null {
  const { text, signatures } = parseNote(note);
  const checkpoint = parseCheckpointText(text);
  const keyHash = noteKeyHash(name, ML_DSA_COSIGNATURE, publicKey);
  let latest: number | null = null;
  for (const line of signatures) {
    if (!isBy(line, name, keyHash)) continue;
    const time = line.signature.length > 8 ? uint64At(line.signature, 0) : null;
    if (time === null || time === 0) return null;
    const signed = message(name, time, checkpoint);
    if (!verifyMlDsa(ML_DSA_44, publicKey, signed, line.signature.slice(8))) return null;
    latest = Math.max(latest ?? 0, time);
  }
  return latest;
}

/** The key of such a witness as clients are configured with it (C2SP signed-note). @throws note_invalid */
export function mlDsaVerifierKey({ name, publicKey }: VerifierKey): string {
  if (!nameSyntax.test(name) || publicKey.length !== ML_DSA_44.publicKeyBytes)
    throw new TallyError('note_invalid', 'An ML-DSA-44 key has a name and 1,312 bytes.');
  const id = noteKeyHash(name, ML_DSA_COSIGNATURE, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${toBase64(concatBytes(Uint8Array.of(ML_DSA_COSIGNATURE), publicKey))}`;
}

/** @throws note_invalid for every text that `mlDsaVerifierKey` would not write */
export function parseMlDsaVerifierKey(text: string): VerifierKey {
  const [, name = '', encoded = ''] = /^([^+]+)\+[0-9a-f]{8}\+(\S+)$/.exec(text) ?? [];
  const key = { name, publicKey: fromBase64(encoded)?.slice(1) ?? new Uint8Array() };
  if (mlDsaVerifierKey(key) !== text)
    throw new TallyError(
      'note_invalid',
      'Expected a key as <name>+<8 hex>+<base64 of 0x06 and 1,312 bytes>.',
    );
  return key;
}
