import { expect, test } from 'vitest';
import { utf8 } from './encoding/bytes.ts';
import { fromHex, toHex } from './encoding/hex.ts';
import { hkdfSha256, hmacSha256, sha256, sha256Hex } from './hash.ts';

test('SHA-256 of "abc" (FIPS 180-4 example)', () => {
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(sha256Hex(utf8('abc'))).toBe(digest);
  expect(toHex(sha256(utf8('abc')))).toBe(digest);
});

test('HMAC-SHA-256 (RFC 4231, test case 2)', () => {
  expect(toHex(hmacSha256(utf8('Jefe'), utf8('what do ya want for nothing?')))).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('HKDF-SHA-256 (RFC 5869, test case 1)', () => {
  const okm = hkdfSha256(
    new Uint8Array(22).fill(0x0b),
    fromHex('000102030405060708090a0b0c'),
    fromHex('f0f1f2f3f4f5f6f7f8f9'),
    42,
  );
  expect(toHex(okm)).toBe(
    '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
  );
});
