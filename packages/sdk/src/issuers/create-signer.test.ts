import { createSigner as createCoreSigner, generateSecretKey } from '@tallystick/core';
import { afterEach, expect, test, vi } from 'vitest';
import { createSigner } from './create-signer.ts';

const secretKey = generateSecretKey();
const message = new TextEncoder().encode('tallystick');
const expected = await createCoreSigner(secretKey);

afterEach(() => void vi.unstubAllGlobals());

test.each([
  ['Node', process],
  ['an older Node', { env: {} }],
  ['a browser', undefined],
])('in %s the signature is that of core', async (_, given) => {
  vi.stubGlobal('process', given);
  const signer = await createSigner(secretKey);
  expect([signer.keyId, signer.publicKey]).toEqual([expected.keyId, expected.publicKey]);
  expect(await signer.sign(message)).toEqual(await expected.sign(message));
  await expect(createSigner(secretKey.subarray(1))).rejects.toMatchObject({ code: 'invalid_secret_key' });
});

test('in Node OpenSSL signs, whatever becomes of the secret that was given', async () => {
  const subtle = vi.spyOn(globalThis.crypto.subtle, 'sign');
  const copy = secretKey.slice();
  const signer = await createSigner(copy);
  copy.fill(0);
  expect(await signer.sign(message)).toEqual(await expected.sign(message));
  expect(subtle).toHaveBeenCalledTimes(1);
});
