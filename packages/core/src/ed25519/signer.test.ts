import { describe, expect, test } from 'vitest';
import { rfc8032Vectors } from '../../test/rfc8032.ts';
import { publicKeyOfDidKey } from '../did/key.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { createSigner, generateSecretKey, publicKeyOf } from './signer.ts';

describe('createSigner', () => {
  test.each(rfc8032Vectors)('signs RFC 8032 $name to the letter', async (vector) => {
    const signer = await createSigner(fromHex(vector.secretKey));
    expect(toHex(signer.publicKey)).toBe(vector.publicKey);
    expect(toHex(await signer.sign(fromHex(vector.message)))).toBe(vector.signature);
    expect(toHex(publicKeyOfDidKey(signer.keyId))).toBe(vector.publicKey);
  });

  test('keeps its own copy of the secret', async () => {
    const secretKey = fromHex(rfc8032Vectors[0]!.secretKey);
    const signer = await createSigner(secretKey);
    secretKey.fill(0);
    expect(toHex(await signer.sign(new Uint8Array()))).toBe(rfc8032Vectors[0]!.signature);
  });

  test.each([0, 31, 33, 64])('refuses a secret of %i bytes', async (length) => {
    const expected = expect.objectContaining({ code: 'invalid_secret_key' });
    await expect(createSigner(new Uint8Array(length))).rejects.toEqual(expected);
    expect(() => publicKeyOf(new Uint8Array(length))).toThrow(expected);
  });
});

test('generateSecretKey gives 32 bytes, never the same', () => {
  expect(generateSecretKey()).toHaveLength(32);
  expect(generateSecretKey()).not.toEqual(generateSecretKey());
});
