import { createCipheriv } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromHex } from './encoding/hex.ts';
import { gcmShortNonce } from './gcm-short-nonce.ts';

function opensslGcm(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, data: Uint8Array): Uint8Array {
  const name = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  const cipher = createCipheriv(name, key, nonce).setAAD(aad);
  return new Uint8Array(Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]));
}

const inputs = [
  fc.constantFrom(16, 24, 32).chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
  fc.uint8Array({ minLength: 1, maxLength: 7 }),
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ maxLength: 100 }),
] as const;

test('writes the bytes of OpenSSL, and reads them', () => {
  fc.assert(
    fc.property(...inputs, (key, nonce, aad, data) => {
      const sealed = gcmShortNonce(key, nonce, aad).encrypt(data);
      expect(sealed).toEqual(opensslGcm(key, nonce, aad, data));
      expect(gcmShortNonce(key, nonce, aad).decrypt(sealed)).toEqual(data);
    }),
  );
});

test('the counter wraps in its 32 bits', () => {
  const key = Uint8Array.from({ length: 32 }, (_, at) => at);
  const nonceWhoseJ0EndsInFfffffff = fromHex('0000004c0c5c56');
  const input = [key, nonceWhoseJ0EndsInFfffffff, new Uint8Array(0)] as const;
  const data = new Uint8Array(50);
  expect(gcmShortNonce(...input).encrypt(data)).toEqual(opensslGcm(...input, data));
});

describe('opens nothing', () => {
  test('of which a bit was changed', () => {
    fc.assert(
      fc.property(...inputs, fc.nat(), (key, nonce, aad, data, random) => {
        const cipher = gcmShortNonce(key, nonce, aad);
        const sealed = cipher.encrypt(data);
        const bit = random % (sealed.length * 8);
        const changed = sealed.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(() => cipher.decrypt(changed)).toThrow('invalid tag');
      }),
    );
  });

  test.each([[0], [1], [15]])('that is %i bytes, shorter than a tag', (length) => {
    const [key, nonce, aad] = [new Uint8Array(32), new Uint8Array(4), new Uint8Array(0)];
    const tagOfNothing = gcmShortNonce(key, nonce, aad).encrypt(new Uint8Array(0));
    expect(() => gcmShortNonce(key, nonce, aad).decrypt(tagOfNothing.subarray(0, length))).toThrow(
      'invalid tag',
    );
  });
});
