import { shake128 } from '@noble/hashes/sha3.js';
import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { expect, test } from 'vitest';
import { toHex } from '../index.ts';
import { javaScriptMlDsa, ML_DSA_44, ML_DSA_65, verifyMlDsa } from './ml-dsa.ts';
import { openSslMlDsa } from './openssl.ts';
import { webCryptoMlDsa } from './web-crypto.ts';

/** Published accumulated vectors: SHAKE-128 over keys and deterministic signatures of 100 seeds (C2SP CCTV, ML-DSA/accumulated). */
test.each([
  ['ML-DSA-44', ml_dsa44, ML_DSA_44, 'd51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4'],
  ['ML-DSA-65', ml_dsa65, ML_DSA_65, '8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199'],
] as const)('%s agrees with the published vectors', async (_, library, set, expected) => {
  const engines = [javaScriptMlDsa, openSslMlDsa(set), await webCryptoMlDsa(set)];
  const seeds = shake128.create();
  const all = shake128.create();
  const message = new Uint8Array();
  for (let round = 0; round < 100; round++) {
    const { publicKey, secretKey } = library.keygen(seeds.xof(32));
    const signature = library.sign(message, secretKey, { extraEntropy: false });
    all.update(publicKey).update(signature);
    const changed = signature.with(round * 20, (signature[round * 20] ?? 0) ^ 1);
    for (const engine of engines) {
      expect(await engine?.(set, publicKey, message, signature)).toBe(true);
      expect(await engine?.(set, publicKey, message, changed)).toBe(false);
    }
  }
  expect(toHex(all.xof(32))).toBe(expected);
});

test('keys and signatures of another length are false', async () => {
  const { publicKey, secretKey } = ml_dsa65.keygen(new Uint8Array(32));
  const message = new Uint8Array([1]);
  const signature = ml_dsa65.sign(message, secretKey);
  expect(await verifyMlDsa(ML_DSA_65, publicKey, message, signature)).toBe(true);
  expect(await verifyMlDsa(ML_DSA_65, publicKey.subarray(1), message, signature)).toBe(false);
  expect(await verifyMlDsa(ML_DSA_65, publicKey, message, signature.subarray(1))).toBe(false);
  expect(await verifyMlDsa(ML_DSA_44, publicKey, message, signature)).toBe(false);
});
