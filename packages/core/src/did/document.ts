import { checkPublicKey } from '../ed25519/profile.ts';
import { fromBase58 } from '../encoding/base58.ts';
import { fromBase64url } from '../encoding/base64url.ts';
import { TallyError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { fromMultikey, toMultikey } from './key.ts';

/** A key of a DID document: `id` is the absolute DID URL of its verification method. */
export interface DidDocumentKey {
  readonly id: string;
  readonly publicKey: Uint8Array;
}

/**
 * The DID document of `did`, whose keys may all assert and authenticate (DID Core 1.0; Multikey of Controlled
 * Identifiers 1.0, section 2.2.2). A method's fragment is what follows the last `:` or `#` of its key id.
 * @throws invalid_public_key
 */
export function didDocument(input: {
  readonly did: string;
  readonly keys: readonly { readonly keyId: string; readonly publicKey: Uint8Array }[];
}): JsonObject {
  const { did } = input;
  const methods = input.keys.map(({ keyId, publicKey }) => ({
    id: `${did}#${keyId.slice(Math.max(keyId.lastIndexOf(':'), keyId.lastIndexOf('#')) + 1)}`,
    type: 'Multikey',
    controller: did,
    publicKeyMultibase: toMultikey(publicKey),
  }));
  const ids = methods.map(({ id }) => id);
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: methods,
    assertionMethod: ids,
    authentication: [...ids],
  };
}

/**
 * The Ed25519 keys with which `did` may assert: the verification methods that `assertionMethod` holds or names,
 * or all of them where the document has no such member. Methods of other types, with the id or controller of
 * another DID, or with a key that the Ed25519 profile refuses are left out.
 * @throws invalid_did when the document is that of another DID or gives two methods the same id
 */
export function keysOfDidDocument(document: JsonObject, did: string): DidDocumentKey[] {
  if (document['id'] !== did) throw new TallyError('invalid_did', `This is not the document of ${did}.`);
  const assertion = document['assertionMethod'];
  const embedded = objectsIn(assertion);
  const named = namesIn(assertion, did);
  const isAllowed = ({ id }: DidDocumentKey) => assertion === undefined || named.has(id);
  const keys = [
    ...keysIn(objectsIn(document['verificationMethod']), did).filter(isAllowed),
    ...keysIn(embedded, did),
  ];
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new TallyError('invalid_did', 'The document gives two verification methods the same id.');
  }
  return keys;
}

function objectsIn(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function namesIn(list: JsonValue | undefined, did: string): Set<string> {
  const names = Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
  return new Set(names.map((name) => absoluteId(name, did)));
}

function keysIn(methods: readonly JsonObject[], did: string): DidDocumentKey[] {
  return methods.flatMap((method) => {
    const { id, controller } = method;
    if (typeof id !== 'string' || controller !== did) return [];
    const url = absoluteId(id, did);
    const publicKey = publicKeyIn(method);
    return publicKey === undefined || !url.startsWith(`${did}#`) ? [] : [{ id: url, publicKey }];
  });
}

function absoluteId(id: string, did: string): string {
  return id.startsWith('#') ? did + id : id;
}

function publicKeyIn(method: JsonObject): Uint8Array | undefined {
  try {
    const publicKey = decodeKey(method);
    if (publicKey !== undefined) checkPublicKey(publicKey);
    return publicKey;
  } catch (error) {
    if (error instanceof TallyError) return undefined;
    throw error;
  }
}

/** The key's bytes, decoded as the method's type prescribes; undefined for other types and missing members. */
function decodeKey(method: JsonObject): Uint8Array | undefined {
  const { type, publicKeyMultibase, publicKeyBase58, publicKeyJwk } = method;
  switch (type) {
    case 'Multikey':
    case 'Ed25519VerificationKey2020':
      return typeof publicKeyMultibase === 'string' ? fromMultikey(publicKeyMultibase) : undefined;
    case 'Ed25519VerificationKey2018':
      return typeof publicKeyBase58 === 'string' ? fromBase58(publicKeyBase58) : undefined;
    case 'JsonWebKey':
    case 'JsonWebKey2020':
      return isObject(publicKeyJwk) ? decodeJwk(publicKeyJwk) : undefined;
    default:
      return undefined;
  }
}

/** The public key of an Ed25519 JWK (RFC 8037, section 2); undefined for any other JWK. */
function decodeJwk({ kty, crv, x }: JsonObject): Uint8Array | undefined {
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' ? fromBase64url(x, 32) : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
