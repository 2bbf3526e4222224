import { checkPublicKey } from '../ed25519/profile.ts';
import { fromBase64, toBase64 } from '../encoding/base64.ts';
import { concatBytes } from '../encoding/bytes.ts';
import { TallyError } from '../errors.ts';
import { ED25519, nameSyntax, noteKeyHash } from './note.ts';

/** Verifier key of a note's signer. */
export interface VerifierKey {
  readonly name: string;
  /** 32 bytes of an Ed25519 key; a witness may have 1,312 of an ML-DSA-44 key instead. */
  readonly publicKey: Uint8Array;
}

/**
 * Formats a log's key as its clients are configured with it: `<name>+<8 hex of the key id>+<base64 of 0x01 || public key>`
 * (C2SP signed-note, "Verifier keys").
 * @throws note_invalid for a name that no key may have, invalid_public_key
 */
export function verifierKey(name: string, publicKey: Uint8Array): string {
  if (!nameSyntax.test(name)) throw invalid('A key name is not empty and holds neither spaces nor "+".');
  checkPublicKey(publicKey);
  const id = noteKeyHash(name, ED25519, publicKey).toString(16).padStart(8, '0');
  return `${name}+${id}+${toBase64(concatBytes(Uint8Array.of(ED25519), publicKey))}`;
}

/** @throws note_invalid for every text that `verifierKey` would not write */
export function parseVerifierKey(text: string): VerifierKey {
  return readKey(text, verifierKey, [32]);
}

/**
 * Reads the text of a verifier key.
 * @param write formats a key of the type that is expected
 * @param lengths of the public keys that it has, in bytes
 * @throws note_invalid for every text that `write` would not write
 */
export function readKey(text: string, write: typeof verifierKey, lengths: readonly number[]): VerifierKey {
  const [, name = '', encoded = ''] = /^([^+]+)\+[0-9a-f]{8}\+(\S+)$/.exec(text) ?? [];
  const publicKey = fromBase64(encoded)?.slice(1);
  if (publicKey === undefined || !lengths.includes(publicKey.length)) {
    const bytes = lengths.map((length) => length + 1).join(' or ');
    throw invalid(`Expected a key as <name>+<8 hex>+<base64 of ${bytes} bytes>.`);
  }
  if (write(name, publicKey) !== text) throw invalid('The key id does not match the name and the key.');
  return { name, publicKey };
}

const invalid = (message: string): TallyError => new TallyError('note_invalid', message);
