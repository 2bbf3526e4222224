import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { fromBase64url, toBase64url } from './encoding/base64url.ts';
import { fromHex, toHex } from './encoding/hex.ts';
import type { JsonObject, JsonValue } from './json/types.ts';
import { openSeal, type SealedDocument, type SealReference, seal, sealReference } from './seal.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const bytes = (text: string) => new TextEncoder().encode(text);
const key = new Uint8Array(32).fill(0x4b);
const otherKey = new Uint8Array(32).fill(0x4c);
const code = (name: string) => expect.objectContaining({ code: name }) as Error;

/** The format as spec/sealing.md puts it, on OpenSSL. */
const openssl = {
  keys(sealingKey: Uint8Array, sealId: Uint8Array) {
    const derive = (info: string) =>
      Buffer.from(hkdfSync('sha256', sealingKey, sealId, `svc-seal-v1/${info}`, 32));
    const commitment = derive('commitment');
    return {
      encryptionKey: derive('key'),
      commitment,
      aad: Buffer.concat([Buffer.from('svc-seal-v1'), sealId, commitment]),
    };
  },
  seal(plaintext: Uint8Array, sealingKey: Uint8Array, sealId: Uint8Array, nonce: Uint8Array): SealedDocument {
    const { encryptionKey, commitment, aad } = this.keys(sealingKey, sealId);
    const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce).setAAD(aad);
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return {
      type: 'svc-seal-v1',
      alg: 'A256GCM',
      seal_id: Buffer.from(sealId).toString('base64url'),
      nonce: Buffer.from(nonce).toString('base64url'),
      key_commitment: commitment.toString('hex'),
      ciphertext: ciphertext.toString('base64url'),
    };
  },
  open(sealed: SealedDocument, sealingKey: Uint8Array): Uint8Array {
    const { encryptionKey, aad } = this.keys(sealingKey, Buffer.from(sealed.seal_id, 'base64url'));
    const ciphertext = Buffer.from(sealed.ciphertext, 'base64url');
    const decipher = createDecipheriv(
      'aes-256-gcm',
      encryptionKey,
      Buffer.from(sealed.nonce, 'base64url'),
    ).setAAD(aad);
    decipher.setAuthTag(ciphertext.subarray(-16));
    return new Uint8Array(Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()]));
  },
};

const sized = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

describe('what is sealed', () => {
  test('opens to the same bytes, with and without its reference', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), sized(32), async (plaintext, key) => {
        const sealed = await seal(plaintext, key);
        const received = JSON.parse(JSON.stringify(sealed)) as JsonValue;
        expect(await openSeal(received, key)).toEqual(plaintext);
        expect(await openSeal(received, key, sealReference(received))).toEqual(plaintext);
      }),
    );
  });

  test('is the format of the specification, both ways', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array(),
        sized(32),
        sized(16),
        sized(12),
        async (plaintext, key, sealId, nonce) => {
          expect(await openSeal(openssl.seal(plaintext, key, sealId, nonce), key)).toEqual(plaintext);
          expect(openssl.open(await seal(plaintext, key), key)).toEqual(plaintext);
        },
      ),
    );
  });

  test('differs each time, in every random part', async () => {
    const [first, second] = [await seal(bytes('x'), key), await seal(bytes('x'), key)];
    for (const member of ['seal_id', 'nonce', 'key_commitment', 'ciphertext'] as const) {
      expect(first[member]).not.toBe(second[member]);
    }
  });

  test('opens where there is no WebCrypto', async () => {
    const sealed = await seal(bytes('plain http'), key);
    vi.stubGlobal('crypto', undefined);
    expect(await openSeal(sealed, key)).toEqual(bytes('plain http'));
    await expect(openSeal(sealed, otherKey)).rejects.toThrow(code('seal_wrong_key'));
    await expect(openSeal(change(sealed, 'nonce', 0), key)).rejects.toThrow(code('seal_tampered'));
  });
});

test('the example of spec/sealing.md is true', async () => {
  const text = readFileSync(new URL('../../../spec/sealing.md', import.meta.url), 'utf8');
  const example = JSON.parse(/```json\n(.*?)```/s.exec(text)![1]!) as {
    key: string;
    plaintext: string;
    encryption_key: string;
    aad: string;
    sealed: SealedDocument;
    reference: SealReference;
  };
  const key = fromHex(example.key);
  expect(sealReference(example.sealed)).toEqual(example.reference);
  expect(await openSeal(example.sealed, key, example.reference)).toEqual(bytes(example.plaintext));
  const { encryptionKey, aad } = openssl.keys(key, fromBase64url(example.sealed.seal_id));
  expect([toHex(encryptionKey), toHex(aad)]).toEqual([example.encryption_key, example.aad]);
});

const binary = ['seal_id', 'nonce', 'key_commitment', 'ciphertext'] as const;

/** The document with one bit of one byte of a binary member flipped. */
function change(sealed: SealedDocument, member: (typeof binary)[number], at: number): SealedDocument {
  const encoding = member === 'key_commitment' ? 'hex' : 'base64url';
  const raw = Buffer.from(sealed[member], encoding);
  raw[at]! ^= 1 << (at % 8);
  return { ...sealed, [member]: raw.toString(encoding) };
}

describe('every byte changed is noticed:', () => {
  const sealed = openssl.seal(bytes('twenty bytes of text'), key, sealIdOf(1), new Uint8Array(12).fill(2));
  const expected = sealReference(sealed);
  const bestEffort = {
    seal_id: 'seal_wrong_key',
    nonce: 'seal_tampered',
    key_commitment: 'seal_wrong_key',
    ciphertext: 'seal_tampered',
  };

  test.each(binary)('%s', async (member) => {
    const length = member === 'key_commitment' ? 32 : Buffer.from(sealed[member], 'base64url').length;
    for (let at = 0; at < length; at++) {
      const changed = change(sealed, member, at);
      await expect(openSeal(changed, key, expected)).rejects.toThrow(code('seal_tampered'));
      await expect(openSeal(changed, key)).rejects.toThrow(code(bestEffort[member]));
      const elsewhere = member === 'nonce' ? 'seal_wrong_key' : 'seal_tampered';
      await expect(openSeal(changed, otherKey, expected)).rejects.toThrow(code(elsewhere));
    }
  });

  test('a document whose commitment was made to fit another key is tampered, not opened', async () => {
    const forged = {
      ...sealed,
      key_commitment: openssl.keys(otherKey, sealIdOf(1)).commitment.toString('hex'),
    };
    await expect(openSeal(forged, otherKey)).rejects.toThrow(code('seal_tampered'));
    await expect(openSeal(forged, otherKey, expected)).rejects.toThrow(code('seal_tampered'));
  });

  test('so is another document under the same key', async () => {
    await expect(openSeal(await seal(bytes('other'), key), key, expected)).rejects.toThrow(
      code('seal_tampered'),
    );
  });
});

function sealIdOf(fill: number): Uint8Array {
  return new Uint8Array(16).fill(fill);
}

test('any other key is the wrong key, and no two keys open one document', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array(), sized(32), fc.nat(255), async (plaintext, key, bit) => {
      const other = key.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      const sealed = await seal(plaintext, key);
      await expect(openSeal(sealed, other)).rejects.toThrow(code('seal_wrong_key'));
      await expect(openSeal(sealed, other, sealReference(sealed))).rejects.toThrow(code('seal_wrong_key'));
    }),
  );
});

test.each([0, 16, 31, 33])('a key of %i bytes is refused', async (length) => {
  const short = new Uint8Array(length);
  await expect(seal(bytes('x'), short)).rejects.toThrow(code('invalid_field'));
  await expect(openSeal(await seal(bytes('x'), key), short)).rejects.toThrow(code('invalid_field'));
  await expect(openSeal('before the document is looked at', short)).rejects.toThrow(code('invalid_field'));
});

describe('a malformed document is refused, and the member named:', () => {
  const sealed = openssl.seal(bytes('x'), key, sealIdOf(0), new Uint8Array(12)) satisfies JsonObject;
  const cases: [string, string, JsonObject][] = [
    ['another type', 'type', { ...sealed, type: 'svc-seal-v2' }],
    ['another algorithm', 'alg', { ...sealed, alg: 'A128GCM' }],
    ['an unknown member', 'tag', { ...sealed, tag: '' }],
    ['a padded nonce', 'nonce', { ...sealed, nonce: `${sealed.nonce}==` }],
    ['spare bits in the seal_id', 'seal_id', { ...sealed, seal_id: sealed.seal_id.replace(/A$/, 'B') }],
    [
      'spare bits in the ciphertext',
      'ciphertext',
      { ...sealed, ciphertext: withSpareBits(sealed.ciphertext) },
    ],
    ['base64, not base64url', 'ciphertext', { ...sealed, ciphertext: `+/${sealed.ciphertext.slice(2)}` }],
    ['white space', 'ciphertext', { ...sealed, ciphertext: `${sealed.ciphertext}\n` }],
    ['upper-case hex', 'key_commitment', { ...sealed, key_commitment: sealed.key_commitment.toUpperCase() }],
    ['a short commitment', 'key_commitment', { ...sealed, key_commitment: sealed.key_commitment.slice(2) }],
    ['a seal_id of 15 bytes', 'seal_id', { ...sealed, seal_id: toBase64url(new Uint8Array(15)) }],
    ['a nonce of 16 bytes', 'nonce', { ...sealed, nonce: toBase64url(new Uint8Array(16)) }],
    [
      'a ciphertext shorter than its tag',
      'ciphertext',
      { ...sealed, ciphertext: toBase64url(new Uint8Array(15)) },
    ],
    ['a number', 'nonce', { ...sealed, nonce: 12 }],
  ];
  test.each(cases)('%s', async (_, field, document) => {
    const refusal = expect.objectContaining({ code: 'seal_invalid', field }) as Error;
    await expect(openSeal(document, key)).rejects.toThrow(refusal);
    expect(() => sealReference(document)).toThrow(refusal);
  });

  test.each(Object.keys(sealed))('%s missing', async (member) => {
    const { [member]: _, ...rest } = sealed as JsonObject;
    await expect(openSeal(rest, key)).rejects.toThrow(
      expect.objectContaining({ code: 'seal_invalid', field: member }) as Error,
    );
  });

  test.each([[null], [[]], ['text'], [1], [true]])('%j in its place', async (value) => {
    await expect(openSeal(value, key)).rejects.toThrow(code('seal_invalid'));
  });

  test('a reference without its members', async () => {
    const { key_commitment: _, ...partial } = sealReference(sealed);
    await expect(openSeal(sealed, key, partial as SealReference)).rejects.toThrow(
      expect.objectContaining({ code: 'seal_invalid', field: 'expected.key_commitment' }) as Error,
    );
  });
});

test('the reference hashes the ciphertext with its tag', async () => {
  const sealed = await seal(bytes('x'), key);
  const hash = createHash('sha256').update(Buffer.from(sealed.ciphertext, 'base64url')).digest('hex');
  expect(sealReference(sealed)).toEqual({
    seal_id: sealed.seal_id,
    ciphertext_sha256: hash,
    key_commitment: sealed.key_commitment,
  });
});

/** The same bytes spelled with a spare bit set: refused, or one document would have many spellings. */
function withSpareBits(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet[alphabet.indexOf(text.at(-1)!) + 1]!;
  const changed = text.slice(0, -1) + last;
  expect(Buffer.from(changed, 'base64url')).toEqual(Buffer.from(text, 'base64url'));
  return changed;
}
