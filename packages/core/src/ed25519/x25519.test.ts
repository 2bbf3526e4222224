import { x25519 } from '@noble/curves/ed25519.js';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { publicKeyOf } from './signer.ts';
import { x25519PublicKeyOf, x25519SecretKeyOf } from './x25519.ts';

it('turns both halves of an Ed25519 key into the same X25519 key', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (secret) => {
      const publicKey = x25519PublicKeyOf(publicKeyOf(secret));
      expect(x25519.getPublicKey(x25519SecretKeyOf(secret))).toEqual(publicKey);
    }),
    { numRuns: 20 },
  );
});
