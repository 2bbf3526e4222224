import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { concatBytes, utf8 } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { sha256 } from '../hash.ts';

/** Longest note, in UTF-16 units: room for a checkpoint with more than 16 signatures of 5 kB. */
const MAX_NOTE = 131_072;

/** The signature type of Ed25519 over the note text (C2SP signed-note, "Signature types"). */
export const ED25519 = 0x01;

/** One signature line: `— <name> base64(keyHash || signature)`. */
export interface NoteSignature {
  readonly name: string;
  /** Key id: an unsigned 32-bit integer. It is not a strong hash. */
  readonly keyHash: number;
  readonly signature: Uint8Array;
}

/** A signed note (C2SP signed-note). Parsing checks its form only: nothing in it is believed yet. */
export interface Note {
  /** Text that is signed; it ends in a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

const invalid = (message: string): TallyError => new TallyError('note_invalid', message);

/** Syntax of a key's name: not empty, no Unicode space, no plus. */
export const nameSyntax = /^[^\p{White_Space}\p{Cc}+]+$/u;
const lineSyntax = /^— ([^ ]+) ([^ ]+)$/;
// oxlint-disable-next-line no-control-regex -- what it must not hold
const forbidden = /[\x00-\x09\x0b-\x1f]/;

/** The newest note that was parsed: a checkpoint is, several times over, for each receipt that it covers. */
let newest: { readonly note: string; readonly parsed: Note } | undefined;

/** @throws note_invalid for every text that `formatNote` would not write */
export function parseNote(note: string): Note {
  if (newest?.note !== note) newest = { note, parsed: readNote(note) };
  return newest.parsed;
}

function readNote(note: string): Note {
  if (note.length > MAX_NOTE || forbidden.test(note) || !note.isWellFormed()) {
    throw invalid('A note is short UTF-8 text without control characters.');
  }
  const separator = note.lastIndexOf('\n\n');
  if (separator < 0 || !note.endsWith('\n')) throw invalid('A note is text, an empty line and signatures.');
  const lines = note.slice(separator + 2, -1).split('\n');
  return { text: note.slice(0, separator + 1), signatures: lines.map(parseLine) };
}

function parseLine(line: string): NoteSignature {
  const [, name = '', encoded = ''] = lineSyntax.exec(line) ?? [];
  const bytes = fromBase64(encoded);
  if (!nameSyntax.test(name) || bytes === null || bytes.length < 5) {
    throw invalid('A signature line is "— <name> <base64 of key id and signature>".');
  }
  return { name, keyHash: uint32(bytes), signature: bytes.slice(4) };
}

/** @throws note_invalid when the parts make no note */
export function formatNote({ text, signatures }: Note): string {
  const note = `${text}\n${signatures.map(formatSignature).join('')}`;
  if (parseNote(note).text !== text) throw invalid('The text of a note ends in a newline.');
  return note;
}

/** The signature line, newline included. */
export function formatSignature({ name, keyHash, signature }: NoteSignature): string {
  return `— ${name} ${toBase64(concatBytes(uint32Bytes(keyHash), signature))}\n`;
}

/** The key id: the first 4 bytes of SHA-256(name || 0x0A || algorithm || public key). */
export function noteKeyHash(name: string, algorithm: number, publicKey: Uint8Array): number {
  return uint32(sha256(concatBytes(utf8(`${name}\n`), Uint8Array.of(algorithm), publicKey)));
}

function uint32(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}

function uint32Bytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
