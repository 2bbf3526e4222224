import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import { toBase64 } from '../encoding/base64.ts';
import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { toUint64, uint64At } from '../encoding/uint64.ts';
import { TallyError } from '../errors.ts';
import { isBy, parseCheckpointText } from './checkpoint.ts';
import { mlDsaMessage } from './ml-dsa-cosignature.ts';
import { formatNote, formatSignature, type NoteSignature, noteKeyHash, parseNote } from './note.ts';
import { readKey, type VerifierKey } from './verifier-key.ts';

/** The signature type of timestamped Ed25519 cosignatures (C2SP tlog-cosignature). */
export const COSIGNATURE = 0x04;
/** The signature type of timestamped ML-DSA-44 cosignatures (C2SP tlog-cosignature), which are experimental here. */
export const ML_DSA_COSIGNATURE = 0x06;

/** Bytes of an ML-DSA-44 public key (FIPS 204, section 4). */
const ML_DSA_KEY_BYTES = 1312;

/** A witness's secret key. Its public key has 32 bytes for Ed25519, and 1,312 for ML-DSA-44. */
export interface CosigningKey {
  readonly publicKey: Uint8Array;
  /** Returns the Ed25519 signature, 64 bytes, or the pure ML-DSA-44 signature with the empty context, 2,420 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** The signature type of a witness's key, which the length of the key tells. */
export function cosignatureType(publicKey: Uint8Array): number {
  return publicKey.length === ML_DSA_KEY_BYTES ? ML_DSA_COSIGNATURE : COSIGNATURE;
}

/** Id of a witness's key. */
export function cosignatureKeyHash(name: string, publicKey: Uint8Array): number {
  return noteKeyHash(name, cosignatureType(publicKey), publicKey);
}

/**
 * Formats a witness's key as logs and policies name it: `<name>+<8 hex of the key id>+<base64 of type || public key>`.
 * @param publicKey 32 bytes for Ed25519, 1,312 for ML-DSA-44
 */
export function witnessKey(name: string, publicKey: Uint8Array): string {
  const id = cosignatureKeyHash(name, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${toBase64(concatBytes(Uint8Array.of(cosignatureType(publicKey)), publicKey))}`;
}

/** @throws note_invalid for every text that `witnessKey` would not write */
export function parseWitnessKey(text: string): VerifierKey {
  return readKey(text, witnessKey, [32, ML_DSA_KEY_BYTES]);
}

/**
 * What a key signs. `text` is that of the note, extension lines included; `time` is in Unix seconds.
 * @throws checkpoint_invalid
 */
function message({ name, publicKey }: VerifierKey, text: string, time: number): Uint8Array {
  return cosignatureType(publicKey) === ML_DSA_COSIGNATURE
    ? mlDsaMessage(name, time, parseCheckpointText(text))
    : utf8(`cosignature/v1\ntime ${time}\n${text}`);
}

/**
 * Makes a witness's statement that it has seen the log grow consistently up to this checkpoint: a signature line, newline
 * included. Of the note, only the form is checked here.
 * @param time Unix seconds; for ML-DSA-44 from 1, since 0 would say nothing of when
 * @throws note_invalid, checkpoint_invalid, invalid_field for a time that is no such number
 */
export async function cosignCheckpoint(
  note: string,
  witness: { readonly name: string; readonly signer: CosigningKey },
  time: number,
): Promise<string> {
  const { text } = parseNote(note);
  parseCheckpointText(text);
  const { name, signer } = witness;
  const { publicKey } = signer;
  if (!Number.isSafeInteger(time) || time < earliest(publicKey)) {
    throw new TallyError('invalid_field', 'The time of a cosignature is a whole number of Unix seconds.');
  }
  const signed = await signer.sign(message({ name, publicKey }, text, time));
  const signature = concatBytes(toUint64(time), signed);
  const line = { name, keyHash: cosignatureKeyHash(name, publicKey), signature };
  // Refuses a name that no key may have.
  formatNote({ text, signatures: [line] });
  return formatSignature(line);
}

/** Least time of a cosignature by this key. One by ML-DSA-44 with the time 0 does not say that the tree was the largest, and counts as none. */
function earliest(publicKey: Uint8Array): number {
  return cosignatureType(publicKey) === ML_DSA_COSIGNATURE ? 1 : 0;
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
  const keyHash = cosignatureKeyHash(witness.name, witness.publicKey);
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
  const { publicKey } = witness;
  let latest: number | null = null;
  for (const { signature } of own) {
    const time = signature.length > 8 ? uint64At(signature, 0) : null;
    if (time === null || time < earliest(publicKey)) return null;
    const signed = message(witness, text, time);
    if (!(await isGood(publicKey, signed, signature.slice(8), engine))) return null;
    latest = Math.max(latest ?? 0, time);
  }
  return latest;
}

async function isGood(
  publicKey: Uint8Array,
  signed: Uint8Array,
  signature: Uint8Array,
  engine: Ed25519Engine,
): Promise<boolean> {
  if (cosignatureType(publicKey) === COSIGNATURE) return verifyEd25519(engine, publicKey, signed, signature);
  // Loaded when it is needed: few witnesses have such a key, and the code is large.
  const { ML_DSA_44, verifyMlDsa } = await import('../ml-dsa/ml-dsa.ts');
  return verifyMlDsa(ML_DSA_44, publicKey, signed, signature);
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
