import { describe, expect, test } from 'vitest';
import { publicKeyOf } from '../ed25519/signer.ts';
import { toBase58 } from '../encoding/base58.ts';
import { toBase64url } from '../encoding/base64url.ts';
import type { JsonObject } from '../json/types.ts';
import { didDocument, keysOfDidDocument } from './document.ts';
import { didKeyOf, toMultikey } from './key.ts';

const did = 'did:web:example.com';
const publicKey = publicKeyOf(new Uint8Array(32).fill(1));
const multikey = { type: 'Multikey', publicKeyMultibase: toMultikey(publicKey) };

function documentWith(method: JsonObject, more: JsonObject = {}): JsonObject {
  return { id: did, verificationMethod: [{ id: `${did}#k`, controller: did, ...method }], ...more };
}

describe('didDocument', () => {
  test('lists every key for both purposes under its own fragment', () => {
    const keyId = didKeyOf(publicKey);
    const document = didDocument({
      did: 'did:svc:acme',
      keys: [
        { keyId, publicKey },
        { keyId: 'did:svc:acme:k2', publicKey },
        { keyId: 'did:svc:acme#k3', publicKey },
      ],
    });
    const ids = [`did:svc:acme#${multikey.publicKeyMultibase}`, 'did:svc:acme#k2', 'did:svc:acme#k3'];
    expect(document['assertionMethod']).toEqual(ids);
    expect(document['authentication']).toEqual(ids);
    expect(keysOfDidDocument(document, 'did:svc:acme')).toEqual(ids.map((id) => ({ id, publicKey })));
  });
});

describe('keysOfDidDocument reads', () => {
  const x = toBase64url(publicKey);
  test.each<JsonObject>([
    multikey,
    { ...multikey, type: 'Ed25519VerificationKey2020' },
    { type: 'Ed25519VerificationKey2018', publicKeyBase58: toBase58(publicKey) },
    { type: 'JsonWebKey2020', publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x } },
    { type: 'JsonWebKey', publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x, kid: 'k' } },
  ])('$type', (method) => {
    expect(keysOfDidDocument(documentWith(method), did)).toEqual([{ id: `${did}#k`, publicKey }]);
  });

  test('relative ids, and assertion methods by reference or embedded', () => {
    const embedded = { id: '#e', controller: did, ...multikey };
    const document = documentWith({ ...multikey, id: '#k' }, { assertionMethod: ['#k', embedded] });
    expect(keysOfDidDocument(document, did).map(({ id }) => id)).toEqual([`${did}#k`, `${did}#e`]);
  });
});

describe('keysOfDidDocument leaves out', () => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: toBase64url(publicKey) };
  test.each<[string, JsonObject]>([
    ['another type', { ...multikey, type: 'X25519KeyAgreementKey2020' }],
    ['a missing key', { type: 'Multikey' }],
    ['a key in another form than its type', { ...multikey, type: 'JsonWebKey2020' }],
    [
      'a small-order key',
      { type: 'Ed25519VerificationKey2018', publicKeyBase58: toBase58(new Uint8Array(32)) },
    ],
    ['a short key', { type: 'Ed25519VerificationKey2018', publicKeyBase58: '2g' }],
    ['an X25519 JWK', { type: 'JsonWebKey2020', publicKeyJwk: { ...jwk, crv: 'X25519' } }],
    ['an EC JWK', { type: 'JsonWebKey2020', publicKeyJwk: { ...jwk, kty: 'EC' } }],
    ['a padded JWK', { type: 'JsonWebKey2020', publicKeyJwk: { ...jwk, x: `${jwk.x}=` } }],
    ['another controller', { ...multikey, controller: 'did:web:example.org' }],
    ['the id of another DID', { ...multikey, id: 'did:web:example.org#k' }],
    ['an id that is no string', { ...multikey, id: 1 }],
  ])('%s', (_, method) => {
    expect(keysOfDidDocument(documentWith(method), did)).toEqual([]);
  });

  test('keys that are not for assertion', () => {
    const document = documentWith(multikey, { assertionMethod: [], authentication: [`${did}#k`] });
    expect(keysOfDidDocument(document, did)).toEqual([]);
  });
});

describe('keysOfDidDocument refuses', () => {
  const invalidDid = expect.objectContaining({ code: 'invalid_did' });

  test('the document of another DID', () => {
    expect(() => keysOfDidDocument(documentWith(multikey), 'did:web:example.org')).toThrow(invalidDid);
  });

  test('two methods with one id', () => {
    const embedded = { id: '#k', controller: did, ...multikey };
    const document = documentWith(multikey, { assertionMethod: ['#k', embedded] });
    expect(() => keysOfDidDocument(document, did)).toThrow(invalidDid);
  });
});
