import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nonCanonicalPoints, smallOrderPoints } from '../../test/ed25519-cases.ts';
import { concatBytes } from '../encoding/bytes.ts';
import { fromHex } from '../encoding/hex.ts';
import { checkPublicKey, publicKeyFault, signatureFault, verifyEd25519 } from './profile.ts';

const someKey = fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
const yes = { verify: () => true };

describe('publicKeyFault', () => {
  test.each(smallOrderPoints)('names order $order: $hex', ({ hex }) => {
    expect(publicKeyFault(fromHex(hex))).toBe('is of small order');
  });

  test.each(nonCanonicalPoints)('refuses $name', ({ hex }) => {
    expect(publicKeyFault(fromHex(hex))).toMatch(/is not canonical|is of small order/);
  });

  test('accepts p - 2 and refuses every y from p on', () => {
    const withLowByte = (low: number) => Uint8Array.of(low, ...new Uint8Array(30).fill(0xff), 0x7f);
    expect(publicKeyFault(withLowByte(0xeb))).toBeUndefined();
    for (let low = 0xed; low <= 0xff; low++) {
      expect(publicKeyFault(withLowByte(low))).toBe('is not canonical');
    }
  });

  test('checkPublicKey throws what publicKeyFault says', () => {
    expect(() => checkPublicKey(someKey)).not.toThrow();
    expect(() => checkPublicKey(new Uint8Array(31))).toThrow(
      expect.objectContaining({ code: 'invalid_public_key', message: expect.stringContaining('31 bytes') }),
    );
  });
});

describe('signatureFault', () => {
  const groupOrder = 'edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010';
  const withS = (hex: string) => concatBytes(someKey, fromHex(hex));

  test.each([
    [groupOrder, 'has an S that is not below the group order'],
    [groupOrder.replace('ed', 'ee'), 'has an S that is not below the group order'],
    [groupOrder.replace(/10$/, '90'), 'has an S that is not below the group order'],
    [groupOrder.replace('ed', 'ec'), undefined],
    ['00'.repeat(32), undefined],
  ])('S = %s', (hex, fault) => {
    expect(signatureFault(withS(hex))).toBe(fault);
  });

  test.each(smallOrderPoints)('refuses R of order $order: $hex', ({ hex }) => {
    const signature = concatBytes(fromHex(hex), new Uint8Array(32));
    expect(signatureFault(signature)).toBe('has an R that is of small order');
  });
});

describe('verifyEd25519', () => {
  test('answers in the manner of its engine', () => {
    const signature = concatBytes(someKey, new Uint8Array(32));
    expect(verifyEd25519(yes, someKey, new Uint8Array(), signature)).toBe(true);
    const later = { verify: async () => true };
    expect(verifyEd25519(later, someKey, new Uint8Array(), signature)).toBeInstanceOf(Promise);
  });

  test('never asks the engine about, and never throws on, bad lengths', () => {
    const wrongLength = (right: number) =>
      fc.uint8Array({ maxLength: 100 }).filter(({ length }) => length !== right);
    fc.assert(
      fc.property(wrongLength(32), fc.uint8Array(), wrongLength(64), (key, message, signature) => {
        const good = concatBytes(someKey, new Uint8Array(32));
        expect(verifyEd25519(yes, key, message, good)).toBe(false);
        expect(verifyEd25519(yes, someKey, message, signature)).toBe(false);
      }),
    );
  });
});
