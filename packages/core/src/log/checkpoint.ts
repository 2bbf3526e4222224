import { defaultEngine } from '../ed25519/engines.ts';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import type { Signer } from '../ed25519/signer.ts';
import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { isHash } from '../merkle/hash.ts';
import { isTreeSize } from '../merkle/subtree.ts';
import { ED25519, formatNote, type NoteSignature, noteKeyHash, parseNote } from './note.ts';

/** A tree head: the log's name, its number of leaves, and the RFC 6962 root over them (32 bytes). */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** A log's name and key, as a verifier knows them. */
export interface LogKey {
  readonly origin: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** Origin, size and root, and whatever extension lines another log adds; no line is empty. */
const textSyntax = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([^\n]{44})\n(?:[^\n]+\n)*$/;

const invalid = (message: string): TallyError => new TallyError('checkpoint_invalid', message);

/**
 * The text of a checkpoint's note, without extension lines (C2SP tlog-checkpoint).
 * @throws checkpoint_invalid for an origin of no or several lines, a size past 2^53-1, a root that is not 32 bytes
 */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  if (!/^[^\n]+$/.test(origin) || !isTreeSize(size) || !isHash(root)) {
    throw invalid('A checkpoint has an origin of one line, a size below 2^53, a root of 32 bytes.');
  }
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/** Extension lines are allowed and not read. @throws checkpoint_invalid */
export function parseCheckpointText(text: string): Checkpoint {
  const [, origin = '', digits = '', encoded = ''] = textSyntax.exec(text) ?? [];
  const size = Number(digits);
  const root = fromBase64(encoded);
  if (root?.length !== 32 || !isTreeSize(size)) {
    throw invalid('A checkpoint is three lines: origin, tree size, base64 of the root.');
  }
  return { origin, size, root };
}

/**
 * The signed note of a checkpoint. The key's name is the origin.
 * @throws checkpoint_invalid, note_invalid for an origin with spaces or "+"
 */
export async function signCheckpoint(checkpoint: Checkpoint, signer: Signer): Promise<string> {
  const { origin } = checkpoint;
  const text = checkpointText(checkpoint);
  const keyHash = noteKeyHash(origin, ED25519, signer.publicKey);
  const signature = await signer.sign(utf8(text));
  return formatNote({ text, signatures: [{ name: origin, keyHash, signature }] });
}

/**
 * The checkpoint that a note holds, once the log's signature is found good. Signatures of unknown keys are passed
 * over; every one that says to be the log's must be good.
 * @throws note_invalid, checkpoint_invalid, checkpoint_signature_invalid
 */
export async function openCheckpoint(
  note: string,
  log: LogKey,
  engine: Ed25519Engine = defaultEngine,
): Promise<Checkpoint> {
  const { text, signatures } = parseNote(note);
  const checkpoint = parseCheckpointText(text);
  if (checkpoint.origin !== log.origin) {
    throw unsigned(`The checkpoint is of the log ${checkpoint.origin}, not of ${log.origin}.`);
  }
  const keyHash = noteKeyHash(log.origin, ED25519, log.publicKey);
  const own = signatures.filter((line) => isBy(line, log.origin, keyHash));
  if (own.length === 0) throw unsigned(`The checkpoint is not signed by ${log.origin}.`);
  for (const { signature } of own) {
    if (!(await verifyEd25519(engine, log.publicKey, utf8(text), signature))) {
      throw unsigned(`The signature of ${log.origin} does not cover this checkpoint.`);
    }
  }
  return checkpoint;
}

/** Returns whether a signature line names this key: a key is told by its name and its id together. */
export function isBy(line: NoteSignature, name: string, keyHash: number): boolean {
  return line.name === name && line.keyHash === keyHash;
}

const unsigned = (message: string): TallyError => new TallyError('checkpoint_signature_invalid', message);
