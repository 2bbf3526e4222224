import { describe, expect, test } from 'vitest';
import type { MessageSignatureCase } from '../../../scripts/vectors/message-signatures.ts';
import { signatureBase } from '../src/http-signatures/signature-base.ts';
import { parseDictionary } from '../src/http-signatures/structured-fields.ts';
import {
  createSigner,
  fromBase64url,
  fromHex,
  nobleEngine,
  publicKeyOfDidKey,
  readRequestSignature,
  signRequest,
  utf8,
  verifyEd25519,
  verifyRequestSignature,
} from '../src/index.ts';
import { outcome, readVectors } from './receipt-vectors.ts';

interface Key {
  readonly name: string;
  readonly seed: string;
  readonly public_key: string;
}

const cases = readVectors<MessageSignatureCase>('message-signatures.json');
const keys = readVectors<Key>('keys.json');

function keyNamed(name: string): Key {
  const key = keys.find((one) => one.name === name);
  if (key === undefined) throw new RangeError(`There is no key ${name}.`);
  return key;
}

describe('message-signatures.json', () => {
  test.each(cases)('$name', async ({ method, urls, headers, body, now, signed, expected }) => {
    const request = {
      method,
      urls: urls.map((url) => new URL(url)),
      header: (name: string) => headers[name],
      body: utf8(body),
    };
    const found = await outcome(async () => {
      const signature = readRequestSignature(request, { now });
      const { did, keyId, nonce } = signature;
      const publicKey = did.startsWith('did:key:')
        ? publicKeyOfDidKey(did)
        : fromBase64url(keyNamed(signed?.key ?? '').public_key, 32);
      const verified = await verifyRequestSignature(nobleEngine, publicKey, signature);
      return { did, key_id: keyId, nonce, verified };
    });
    expect(found).toEqual(expected);
  });

  test.each(cases.filter(({ signed }) => signed !== undefined))('signs $name', async (vector) => {
    const { method, headers, body, signed } = vector;
    if (signed === undefined) throw new RangeError('Nothing was signed.');
    const { key, did, url, created, nonce } = signed;
    const own = await createSigner(fromHex(keyNamed(key).seed, 32));
    const signer = did.startsWith('did:key:') ? own : { ...own, keyId: `${did}:k1` };
    const request = { method, url: new URL(url), body: body === '' ? null : utf8(body) };
    const made = await signRequest(request, { did, signer }, { created, nonce });
    expect(made).toEqual(headers);
  });
});

describe('RFC 9421', () => {
  const headers: Readonly<Record<string, string>> = {
    date: 'Tue, 20 Apr 2021 02:07:55 GMT',
    'content-type': 'application/json',
    'content-length': '18',
  };
  const message = {
    method: 'POST',
    url: new URL('https://example.com/foo?param=Value&Pet=dog'),
    header: (name: string) => headers[name],
  };
  const input =
    'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
  const signature =
    'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:';

  test('appendix B.2.6: the base and the signature', () => {
    const covered = parseDictionary(input).get('sig-b26');
    const value = parseDictionary(signature).get('sig-b26');
    if (covered === undefined || !('items' in covered)) throw new RangeError('no list');
    if (value === undefined || !('value' in value) || !(value.value instanceof Uint8Array)) {
      throw new RangeError('no bytes');
    }
    const base = signatureBase(covered, message);
    expect(base).toBe(
      [
        '"date": Tue, 20 Apr 2021 02:07:55 GMT',
        '"@method": POST',
        '"@path": /foo',
        '"@authority": example.com',
        '"content-type": application/json',
        '"content-length": 18',
        `"@signature-params": ${input.slice('sig-b26='.length)}`,
      ].join('\n'),
    );
    const publicKey = fromBase64url('JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs', 32);
    expect(verifyEd25519(nobleEngine, publicKey, utf8(base), value.value)).toBe(true);
  });

  test.each([
    ['@target-uri', 'https://example.com/foo?param=Value&Pet=dog'],
    ['@scheme', 'https'],
    ['@request-target', '/foo?param=Value&Pet=dog'],
    ['@query', '?param=Value&Pet=dog'],
  ])('section 2.2: %s', (name, expected) => {
    const covered = { items: [{ value: name, parameters: new Map() }], parameters: new Map() };
    expect(signatureBase(covered, message).split('\n')[0]).toBe(`"${name}": ${expected}`);
  });
});
