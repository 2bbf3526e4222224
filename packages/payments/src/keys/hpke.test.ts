import { fromHex, toHex, utf8 } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hpkeOpen, hpkeSeal, x25519SecretKey } from './hpke.ts';

// RFC 9180, appendix A.1.1, sequence number 0.
const VECTOR = {
  info: '4f6465206f6e2061204772656369616e2055726e',
  skEm: '52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736',
  pkRm: '3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d',
  skRm: '4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8',
  enc: '37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431',
  pt: '4265617574792069732074727574682c20747275746820626561757479',
  aad: '436f756e742d30',
  ct: 'f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a',
};

describe('HPKE', () => {
  it('seals and opens as RFC 9180 does', () => {
    const [info, aad, plaintext] = [VECTOR.info, VECTOR.aad, VECTOR.pt].map((hex) => fromHex(hex));
    if (info === undefined || aad === undefined || plaintext === undefined) throw new Error('unreachable');
    const sealed = hpkeSeal(
      fromHex(VECTOR.pkRm),
      { info, aad, plaintext },
      x25519SecretKey(fromHex(VECTOR.skEm)),
    );
    expect(toHex(sealed.enc)).toBe(VECTOR.enc);
    expect(toHex(sealed.ciphertext)).toBe(VECTOR.ct);
    expect(toHex(hpkeOpen(fromHex(VECTOR.skRm), sealed, { info, aad }))).toBe(VECTOR.pt);
  });

  it('opens what it seals, and nothing that was changed', () => {
    const recipient = fromHex(VECTOR.pkRm);
    const secret = fromHex(VECTOR.skRm);
    const context = { info: utf8('info'), aad: utf8('aad') };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(), (plaintext, at) => {
        const sealed = hpkeSeal(recipient, { ...context, plaintext });
        expect(hpkeOpen(secret, sealed, context)).toEqual(plaintext);
        const ciphertext = Uint8Array.from(sealed.ciphertext);
        const index = at % ciphertext.length;
        ciphertext[index] = (ciphertext[index] ?? 0) ^ 1;
        const changed = { ...sealed, ciphertext };
        expect(() => hpkeOpen(secret, changed, context)).toThrow(
          expect.objectContaining({ code: 'seal_wrong_key' }),
        );
        const other = { ...context, aad: utf8('other') };
        expect(() => hpkeOpen(secret, sealed, other)).toThrow('not sealed to this key');
      }),
      { numRuns: 20 },
    );
  });
});
