import { generateSecretKey, nobleEngine, publicKeyOf } from '@tallystick/core';
import { describe, expect, test } from 'vitest';
import { describeEngine } from '../../../core/test/ed25519-suite.ts';
import { rfc8032Vectors } from '../../../core/test/rfc8032.ts';
import { nodeEngine, nodeSigner } from './node-ed25519.ts';

const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describeEngine('nodeEngine', nodeEngine);

test('nodeEngine answers rightly for more keys than it remembers', async () => {
  const signer = nodeSigner(generateSecretKey());
  const message = new Uint8Array(3);
  const signature = await signer.sign(message);
  expect(nodeEngine.verify(signer.publicKey, message, signature)).toBe(true);
  for (let index = 0; index < 5000; index++) {
    const other = Uint8Array.from(signer.publicKey);
    new DataView(other.buffer).setUint32(0, index);
    expect(nodeEngine.verify(other, message, signature)).toBe(false);
  }
  expect(nodeEngine.verify(signer.publicKey, message, signature)).toBe(true);
});

describe('nodeSigner', () => {
  test.each(rfc8032Vectors)('signs RFC 8032 $name to the letter', async (vector) => {
    const signer = nodeSigner(fromHex(vector.secretKey));
    expect(toHex(signer.publicKey)).toBe(vector.publicKey);
    expect(toHex(await signer.sign(fromHex(vector.message)))).toBe(vector.signature);
  });

  test('makes signatures that the pure JavaScript engine accepts', async () => {
    const secretKey = generateSecretKey();
    const message = new TextEncoder().encode('a receipt');
    const signature = await nodeSigner(secretKey).sign(message);
    expect(signature.constructor).toBe(Uint8Array);
    expect(nobleEngine.verify(publicKeyOf(secretKey), message, signature)).toBe(true);
  });

  test('refuses a secret of another length', () => {
    const expected = expect.objectContaining({ code: 'invalid_secret_key' });
    expect(() => nodeSigner(new Uint8Array(31))).toThrow(expected);
  });
});
