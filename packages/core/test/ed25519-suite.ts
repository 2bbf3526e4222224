import { describe, expect, test } from 'vitest';
import { type Ed25519Engine, fromHex, verifyEd25519 } from '../src/index.ts';
import { verdictCases } from './ed25519-cases.ts';
import { rfc8032Vectors } from './rfc8032.ts';
import { haveSharedVectors, wycheproofEd25519 } from './shared-vectors.ts';

/** Tests every verdict that an engine must give under the profile. */
export function describeEngine(name: string, engine: Ed25519Engine): void {
  const verdict = async (vector: { publicKey: string; message: string; signature: string }) =>
    verifyEd25519(engine, fromHex(vector.publicKey), fromHex(vector.message), fromHex(vector.signature));

  describe(`${name} behind the Ed25519 profile`, () => {
    test.each(rfc8032Vectors)('accepts RFC 8032 $name', async (vector) => {
      expect(await verdict(vector)).toBe(true);
    });

    test.each(verdictCases)('$name: $valid', async (vector) => {
      expect(await verdict(vector)).toBe(vector.valid);
    });

    // No case is merely "acceptable", and the profile accepts every valid one.
    test.skipIf(!haveSharedVectors)('agrees with every Wycheproof case (needs ../shared)', async () => {
      const cases = wycheproofEd25519();
      expect(cases).toHaveLength(151);
      for (const vector of cases) {
        expect([vector.name, await verdict(vector)]).toEqual([vector.name, vector.result === 'valid']);
      }
    });
  });
}
