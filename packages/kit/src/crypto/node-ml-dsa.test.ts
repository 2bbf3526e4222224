import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { expect, test } from 'vitest';
import { nodeMlDsaCosigner, nodePqSigner } from './node-ml-dsa.ts';

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

test('a witness’s second key is its own, and the same each time', async () => {
  const secret = new Uint8Array(32).fill(7);
  const cosigner = nodeMlDsaCosigner(secret);
  const { publicKey } = cosigner;
  expect(nodeMlDsaCosigner(secret).publicKey).toEqual(publicKey);
  expect(ml_dsa44.keygen(secret).publicKey).not.toEqual(publicKey);
  const message = new TextEncoder().encode('a message');
  expect(ml_dsa44.verify(await cosigner.sign(message), message, publicKey)).toBe(true);
});
