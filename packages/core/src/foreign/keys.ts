import { didKeyOf } from '../did/key.ts';
import { checkPublicKey } from '../ed25519/profile.ts';
import { fromBase64 } from '../encoding/base64.ts';
import { fromBase64url } from '../encoding/base64url.ts';
import { concatBytes, equalBytes, utf8 } from '../encoding/bytes.ts';
import { fromHex } from '../encoding/hex.ts';
import { fromMultibase, toMultibase } from '../encoding/multibase.ts';
import { TallyError } from '../errors.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonValue } from '../json/types.ts';
import { parseVerifierKey } from '../log/verifier-key.ts';
import { orNull } from '../or-null.ts';
import { isObject } from '../receipts/shape.ts';

/** A key that may have signed a foreign receipt. */
export type ForeignKey =
  | {
      readonly kind: 'Ed25519';
      /** 32 bytes. */
      readonly publicKey: Uint8Array;
      /** Name of the log that has the key, where it was given as a verifier key of C2SP signed-note. */
      readonly log?: string;
    }
  | {
      readonly kind: 'P-256' | 'secp256k1';
      /** The point as SEC 1 writes it: 33 bytes compressed. */
      readonly publicKey: Uint8Array;
    }
  /** An Ethereum account: `0x` and 40 hex in lower case. */
  | { readonly kind: 'account'; readonly address: string };

/** Multicodec prefixes of did:key, as varints. */
const CODECS = [
  { kind: 'Ed25519', prefix: Uint8Array.of(0xed, 0x01), length: 32 },
  { kind: 'P-256', prefix: Uint8Array.of(0x80, 0x24), length: 33 },
  { kind: 'secp256k1', prefix: Uint8Array.of(0xe7, 0x01), length: 33 },
] as const;

/** The DER that precedes the key in a SubjectPublicKeyInfo (RFC 8410, section 4; RFC 5480, section 2). */
const SPKI = [
  { kind: 'Ed25519', prefix: fromHex('302a300506032b6570032100') },
  { kind: 'P-256', prefix: fromHex('3059301306072a8648ce3d020106082a8648ce3d030107034200') },
] as const;

/** The name of a key in a verdict: its did:key, or the address. */
export function keyName(key: ForeignKey): string {
  if (key.kind === 'account') return key.address;
  if (key.kind === 'Ed25519') return didKeyOf(key.publicKey);
  const codec = CODECS.find(({ kind }) => kind === key.kind) ?? CODECS[0];
  return `did:key:${toMultibase(concatBytes(codec.prefix, key.publicKey))}`;
}

/**
 * The keys in a text: a did:key, 64 hex digits or 43 base64url of an Ed25519 key, an Ethereum address, PEM public keys, a JWK
 * or JWK Set, or a verifier key of a log (`<name>+<8 hex>+<base64>`). Keys of other types in a JWK Set are passed over.
 * @throws invalid_public_key where it holds no usable key
 */
export function parseForeignKeys(text: string): readonly ForeignKey[] {
  const trimmed = text.trim();
  const keys = orNull(() => keysIn(trimmed)) ?? [];
  if (keys.length > 0) return keys;
  throw new TallyError(
    'invalid_public_key',
    'Expected a did:key, 64 hex digits, base64url of 32 bytes, an address, PEM, a JWK or JWK Set, or a log’s verifier key.',
  );
}

function keysIn(text: string): readonly ForeignKey[] {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return [{ kind: 'account', address: text.toLowerCase() }];
  if (/^[0-9a-fA-F]{64}$/.test(text)) return [ed25519Key(fromHex(text.toLowerCase()))];
  if (text.startsWith('did:key:')) return [keyOfDidKey(text)];
  if (text.startsWith('{')) return keysOfJwks(parseJson(utf8(text)));
  if (text.startsWith('-----BEGIN')) return keysOfPem(text);
  if (text.includes('+')) {
    const { name, publicKey } = parseVerifierKey(text);
    return [{ kind: 'Ed25519', publicKey, log: name }];
  }
  return [ed25519Key(fromBase64url(text, 32))];
}

/** @throws invalid_public_key */
export function ed25519Key(publicKey: Uint8Array): ForeignKey {
  checkPublicKey(publicKey);
  return { kind: 'Ed25519', publicKey };
}

/** @throws invalid_public_key, invalid_multibase */
export function keyOfDidKey(did: string): ForeignKey {
  const bytes = fromMultibase(did.slice('did:key:'.length));
  for (const { kind, prefix, length } of CODECS) {
    if (bytes.length !== 2 + length || !equalBytes(bytes.subarray(0, 2), prefix)) continue;
    const publicKey = bytes.slice(2);
    return kind === 'Ed25519' ? ed25519Key(publicKey) : { kind, publicKey };
  }
  throw unusable('The did:key is of no type that is read here: Ed25519, P-256, secp256k1.');
}

function keysOfJwks(document: JsonValue): readonly ForeignKey[] {
  if (!isObject(document)) return [];
  const list = Array.isArray(document.keys) ? document.keys : [document];
  return list.flatMap((jwk) => orNull(() => keyOfJwk(jwk)) ?? []);
}

/** The key of a JWK (RFC 7517, RFC 8037). @throws invalid_public_key, invalid_base64url */
export function keyOfJwk(jwk: JsonValue): ForeignKey {
  const { kty, crv, x, y } = isObject(jwk) ? jwk : {};
  if (kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string') return ed25519Key(fromBase64url(x, 32));
  if (
    kty === 'EC' &&
    (crv === 'P-256' || crv === 'secp256k1') &&
    typeof x === 'string' &&
    typeof y === 'string'
  ) {
    return { kind: crv, publicKey: compressed(concatBytes(fromBase64url(x, 32), fromBase64url(y, 32))) };
  }
  throw unusable('The JWK is of no type that is read here: Ed25519, P-256, secp256k1.');
}

function keysOfPem(text: string): readonly ForeignKey[] {
  const blocks = [...text.matchAll(/-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----/g)];
  return blocks.flatMap(
    ([, body = '']) => orNull(() => keyOfSpki(fromBase64(body.replaceAll(/\s/g, '')))) ?? [],
  );
}

function keyOfSpki(der: Uint8Array | null): ForeignKey {
  for (const { kind, prefix } of SPKI) {
    if (der === null || !equalBytes(der.subarray(0, prefix.length), prefix)) continue;
    const rest = der.subarray(prefix.length);
    if (kind === 'Ed25519') return ed25519Key(rest.slice());
    if (rest.length === 65 && rest[0] === 4) return { kind, publicKey: compressed(rest.subarray(1)) };
  }
  throw unusable('The public key is of no type that is read here: Ed25519, P-256.');
}

/** The compressed point of the 64 bytes x || y (SEC 1, section 2.3.3). Whether it is on the curve shows when it is used. */
function compressed(point: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(2 + ((point[63] ?? 0) & 1)), point.subarray(0, 32));
}

/** Returns whether two keys are the same, whatever text they were given in. */
export function sameKey(a: ForeignKey, b: ForeignKey): boolean {
  return keyName(a) === keyName(b);
}

const unusable = (message: string): TallyError => new TallyError('invalid_public_key', message);
