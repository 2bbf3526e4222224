import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { expect, test } from 'vitest';
import { nodePqSigner } from './node-ml-dsa.ts';

test('OpenSSL and the verifier’s library agree on keys and signatures', async () => {
  const seed = new Uint8Array(32).fill(7);
  const signer = nodePqSigner(seed);
  const { publicKey, secretKey } = ml_dsa65.keygen(seed);
  expect(signer.publicKey).toEqual(publicKey);
  const message = new TextEncoder().encode('a message');
  const signature = await signer.sign(message);
  expect(signature).toHaveLength(3309);
  expect(ml_dsa65.verify(signature, message, publicKey)).toBe(true);
  expect(ml_dsa65.verify(signature, message.subarray(1), publicKey)).toBe(false);
  expect(ml_dsa65.sign(message, secretKey)).not.toEqual(await signer.sign(message));
});
