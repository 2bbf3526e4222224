import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import type { Signer } from '../ed25519/signer.ts';
import { toBase64 } from '../encoding/base64.ts';
import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { toUint64, uint64At } from '../encoding/uint64.ts';
import { TallyError } from '../errors.ts';
import { isBy, parseCheckpointText } from './checkpoint.ts';
import { formatNote, formatSignature, type NoteSignature, noteKeyHash, parseNote } from './note.ts';
import { readKey, type VerifierKey } from './verifier-key.ts';

/** The signature type of timestamped Ed25519 cosignatures (C2SP tlog-cosignature). */
export const COSIGNATURE = 0x04;

/**
 * Formats a witness's key as logs and policies name it: `<name>+<8 hex of the key id>+<base64 of 0x04 || public key>`.
 * @param publicKey 32 bytes, Ed25519
 */
export function witnessKey(name: string, publicKey: Uint8Array): string {
  const id = noteKeyHash(name, COSIGNATURE, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${toBase64(concatBytes(Uint8Array.of(COSIGNATURE), publicKey))}`;
}

/** @throws note_invalid for every text that `witnessKey` would not write */
export function parseWitnessKey(text: string): VerifierKey {
  return readKey(text, witnessKey);
}

/** `text` is the note text of the checkpoint, extension lines included; `time` is in Unix seconds. */
const message = (text: string, time: number): Uint8Array => utf8(`cosignature/v1\ntime ${time}\n${text}`);

/**
 * Makes a witness's statement that it has seen the log grow consistently up to this checkpoint: a signature line, newline
 * included. Of the note, only the form is checked here.
 * @param time Unix seconds
 * @throws note_invalid, checkpoint_invalid, invalid_field for a time that is no such number
 */
export async function cosignCheckpoint(
  note: string,
  witness: { readonly name: string; readonly signer: Signer },
  time: number,
): Promise<string> {
  const { text } = parseNote(note);
  parseCheckpointText(text);
  if (!Number.isSafeInteger(time) || time < 0) {
    throw new TallyError('invalid_field', 'The time of a cosignature is a whole number of Unix seconds.');
  }
  const { name, signer } = witness;
  const signature = concatBytes(toUint64(time), await signer.sign(message(text, time)));
  const line = { name, keyHash: noteKeyHash(name, COSIGNATURE, signer.publicKey), signature };
  // Refuses a name that no key may have.
  formatNote({ text, signatures: [line] });
  return formatSignature(line);
}

/**
 * The time at which the witness cosigned the checkpoint: Unix seconds, the latest if it did so more than once. Null when
 * it did not, or when one of the signatures that claim to be the witness's is not good.
 * @throws note_invalid, checkpoint_invalid
 */
export async function checkCosignature(
  note: string,
  witness: VerifierKey,
  engine: Ed25519Engine = defaultEngine,
): Promise<number | null> {
  const { text, signatures } = parseNote(note);
  parseCheckpointText(text);
  const keyHash = noteKeyHash(witness.name, COSIGNATURE, witness.publicKey);
  const own = signatures.filter((line) => isBy(line, witness.name, keyHash));
  return cosignedAt(text, own, witness, engine);
}

/**
 * `checkCosignature` of a note that is parsed.
 * @param own the signatures that claim to be the witness's
 */
export async function cosignedAt(
  text: string,
  own: readonly NoteSignature[],
  witness: VerifierKey,
  engine: Ed25519Engine,
): Promise<number | null> {
  let latest: number | null = null;
  for (const line of own) {
    const time = line.signature.length === 72 ? uint64At(line.signature, 0) : null;
    if (time === null) return null;
    if (!(await verifyEd25519(engine, witness.publicKey, message(text, time), line.signature.slice(8)))) {
      return null;
    }
    latest = Math.max(latest ?? 0, time);
  }
  return latest;
}

/**
 * The note with one more signature, in place of an earlier one of the same key.
 * @param line as `cosignCheckpoint` or a witness gives it, newline included
 * @throws note_invalid
 */
export function withSignature(note: string, line: string): string {
  const { text, signatures } = parseNote(note);
  const [added, ...more] = parseNote(`${text}\n${line}`).signatures;
  if (added === undefined || more.length > 0) {
    throw new TallyError('note_invalid', 'Expected one signature line.');
  }
  const others = signatures.filter((one) => !isBy(one, added.name, added.keyHash));
  return formatNote({ text, signatures: [...others, added] });
}
