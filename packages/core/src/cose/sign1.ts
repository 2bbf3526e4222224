import {
  type DecodeOptions,
  decode,
  encode,
  rfc8949EncodeOptions,
  Tagged,
  Token,
  Tokenizer,
  Type,
} from 'cborg';
import type { Signer } from '../ed25519/signer.ts';
import { TallyError } from '../errors.ts';
import { isHeaderMap } from './headers.ts';

/** Tag of a COSE_Sign1 (RFC 9052, section 2). */
const SIGN1 = 18;

/** Labels of COSE header parameters (IANA registry of COSE; RFC 9052, RFC 9597, RFC 9942). */
export const HEADER = { alg: 1, crit: 2, kid: 4, claims: 15, vds: 395, vdp: 396 } as const;

/** COSE algorithms. 9 is ES256 by itself and -19 Ed25519 by itself (RFC 9864); both mean what -7 and -8 mean here. */
export const ALGORITHMS: ReadonlyMap<unknown, 'EdDSA' | 'ES256'> = new Map([
  [-8, 'EdDSA'],
  [-19, 'EdDSA'],
  [-7, 'ES256'],
  [-9, 'ES256'],
]);

/** Labels of the parameters that readers here heed. */
const HEEDED: ReadonlySet<unknown> = new Set<unknown>(Object.values(HEADER));

export type HeaderMap = ReadonlyMap<unknown, unknown>;

/** A signed COSE message with one signature (RFC 9052, section 4.2). Reading it checks its form only. */
export interface Sign1 {
  readonly protectedBytes: Uint8Array;
  readonly protectedHeader: HeaderMap;
  readonly unprotectedHeader: HeaderMap;
  /** Null if it is detached. */
  readonly payload: Uint8Array | null;
  readonly signature: Uint8Array;
}

const invalid = (message: string, cause?: unknown): TallyError =>
  new TallyError('cose_invalid', message, cause === undefined ? {} : { cause });

const OPTIONS: DecodeOptions = {
  useMaps: true,
  rejectDuplicateMapKeys: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowBigInt: true,
};

/** Reads floats as objects: as numbers, whole ones could not be told from integers, which they are not (RFC 8949, section 3.4.2). */
class FloatsApart extends Tokenizer {
  override next(): Token {
    const token = super.next();
    if (!Type.equals(token.type, Type.float)) return token;
    return new Token(token.type, { float: token.value }, token.encodedLength);
  }
}

/** Decodes one CBOR item. A float is an object with the member `float`, and no number. @throws cose_invalid */
export function decodeCbor(bytes: Uint8Array, tags: readonly number[] = []): unknown {
  try {
    const tokenizer = new FloatsApart(bytes, OPTIONS);
    return decode(bytes, { ...OPTIONS, tokenizer, tags: Tagged.preserve(...tags) });
  } catch (cause) {
    throw invalid('The bytes are not one CBOR item (RFC 8949).', cause);
  }
}

/** Encodes deterministically (RFC 8949, section 4.2.1). */
export function encodeCbor(value: unknown): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encode(value, rfc8949EncodeOptions));
}

/** Returns whether bytes begin as a tagged COSE_Sign1 does, whose content is an array of four. */
export function looksLikeSign1([tag, array]: Uint8Array): boolean {
  return tag === 0xd2 && array === 0x84;
}

/** @throws cose_invalid */
export function parseSign1(bytes: Uint8Array): Sign1 {
  const message = decodeCbor(bytes, [SIGN1]);
  if (!(message instanceof Tagged) || message.tag !== SIGN1 || !Array.isArray(message.value))
    throw invalid('A COSE_Sign1 is an array with the tag 18.');
  const [protectedBytes, unprotectedHeader, payload, signature, ...more] = message.value as unknown[];
  if (
    !(protectedBytes instanceof Uint8Array) ||
    !isHeaderMap(unprotectedHeader) ||
    !(payload === null || payload instanceof Uint8Array) ||
    !(signature instanceof Uint8Array) ||
    more.length > 0
  )
    throw invalid(
      'A COSE_Sign1 has four members: the protected header and the signature as byte strings, a map, and a payload.',
    );
  const protectedHeader = protectedBytes.length === 0 ? new Map() : decodeCbor(protectedBytes);
  if (!isHeaderMap(protectedHeader)) throw invalid('The protected header is not a map.');
  // Who does not understand what is marked as critical must not accept the message (RFC 9052, section 3.1).
  const critical = protectedHeader.get(HEADER.crit) ?? [HEADER.alg];
  const isHeeded = Array.isArray(critical) && critical.length > 0 && critical.every((one) => HEEDED.has(one));
  if (!isHeeded || unprotectedHeader.has(HEADER.crit))
    throw invalid('Its header crit names parameters that are not understood here, or is malformed.');
  return { protectedBytes, protectedHeader, unprotectedHeader, payload, signature };
}

/** The bytes that are signed (RFC 9052, section 4.4), without external data. */
export function sign1Message(protectedBytes: Uint8Array, payload: Uint8Array): Uint8Array {
  return encodeCbor(['Signature1', protectedBytes, new Uint8Array(), payload]);
}

/** Signs with a detached payload. */
export async function signDetached(
  header: HeaderMap,
  unprotectedHeader: HeaderMap,
  payload: Uint8Array,
  signer: Signer,
): Promise<Uint8Array<ArrayBuffer>> {
  const protectedBytes = encodeCbor(header);
  const signature = await signer.sign(sign1Message(protectedBytes, payload));
  return encodeCbor(new Tagged(SIGN1, [protectedBytes, unprotectedHeader, null, signature]));
}
