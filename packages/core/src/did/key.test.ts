import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { smallOrderPoints } from '../../test/ed25519-cases.ts';
import { haveSharedVectors, readSharedText } from '../../test/shared-vectors.ts';
import { publicKeyOf } from '../ed25519/signer.ts';
import { concatBytes } from '../encoding/bytes.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { toMultibase } from '../encoding/multibase.ts';
import type { JsonObject } from '../json/types.ts';
import { keysOfDidDocument } from './document.ts';
import { didKeyOf, publicKeyOfDidKey } from './key.ts';

interface DidKeyVector {
  readonly seed: string;
  readonly didDocument: JsonObject;
}

describe.skipIf(!haveSharedVectors)('did:key vectors (need ../shared)', () => {
  test('every seed gives its DID, key and document', () => {
    const file = readSharedText('did-key/ed25519-x25519.json');
    const vectors = Object.entries(JSON.parse(file) as Record<string, DidKeyVector>);
    expect(vectors).toHaveLength(5);
    for (const [did, { seed, didDocument }] of vectors) {
      const publicKey = publicKeyOf(fromHex(seed));
      expect(didKeyOf(publicKey)).toBe(did);
      expect(publicKeyOfDidKey(did)).toEqual(publicKey);
      const id = `${did}#${did.slice('did:key:'.length)}`;
      expect(keysOfDidDocument(didDocument, did)).toEqual([{ id, publicKey }]);
    }
  });
});

const publicKey = publicKeyOf(new Uint8Array(32));
const withPrefix = (prefix: string, key = publicKey) =>
  `did:key:${toMultibase(concatBytes(fromHex(prefix), key))}`;

test('didKeyOf and publicKeyOfDidKey are inverses', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
      const key = publicKeyOf(seed);
      expect(toHex(publicKeyOfDidKey(didKeyOf(key)))).toBe(toHex(key));
    }),
    { numRuns: 20 },
  );
});

test.each([
  ['another scheme', didKeyOf(publicKey).replace('did:key', 'did:svc')],
  ['a fragment', `${didKeyOf(publicKey)}#x`],
  ['a leading zero byte', didKeyOf(publicKey).replace(':z', ':z1')],
  ['base16 multibase', `did:key:fed01${toHex(publicKey)}`],
  ['an X25519 key', withPrefix('ec01')],
  ['an overlong varint', withPrefix('ed8100')],
  ['another second byte of the multicodec', withPrefix('ed02')],
  ['a second byte of the multicodec that is zero', withPrefix('ed00')],
  ['a short key', withPrefix('ed01', publicKey.subarray(1))],
  ['a long key', withPrefix('ed01', concatBytes(publicKey, Uint8Array.of(0)))],
  ...smallOrderPoints.map(({ order, hex }) => [`order ${order}`, withPrefix('ed01', fromHex(hex))]),
])('publicKeyOfDidKey refuses %s', (_, did) => {
  expect(() => publicKeyOfDidKey(did)).toThrow(expect.objectContaining({ code: 'invalid_did' }));
});

test('didKeyOf refuses a key that no signature can verify under', () => {
  const expected = expect.objectContaining({ code: 'invalid_public_key' });
  expect(() => didKeyOf(new Uint8Array(32))).toThrow(expected);
});
