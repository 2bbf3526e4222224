import { createHmac, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommitmentCase } from '../../../../scripts/vectors/commitments.ts';
import { fromHex, toHex } from '../encoding/hex.ts';
import { sha256Hex } from '../hash.ts';
import {
  COMMITMENT_LABELS,
  type CommitmentLabel,
  checkOpening,
  commit,
  newSalt,
  openingKey,
  saltCommitment,
} from './commitments.ts';

const file = new URL('../../../../spec/vectors/commitments.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as (CommitmentCase & { label: CommitmentLabel })[];

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const label = fc.constantFrom(...COMMITMENT_LABELS);
const value = fc.string({ unit: 'grapheme' });
const invalid = (field: string) => expect.objectContaining({ code: 'invalid_field', field }) as Error;

describe('commitments', () => {
  test('are HMAC-SHA256 under an HKDF-SHA256 key of the salt and the label', () => {
    fc.assert(
      fc.property(bytes32, label, value, (salt, name, text) => {
        const key = Buffer.from(hkdfSync('sha256', salt, '', `svc-metering-v1/${name}`, 32));
        expect(Buffer.from(openingKey(salt, name))).toEqual(key);
        expect(commit(salt, name, text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
        expect(saltCommitment(salt)).toBe(sha256Hex(salt));
      }),
    );
  });

  test.each(vectors)('are those of the vector $name', ({ salt, label, value, expected }) => {
    const bytes = fromHex(salt);
    expect(toHex(openingKey(bytes, label))).toBe(expected.key);
    expect(commit(bytes, label, value)).toBe(expected.commitment);
    expect(saltCommitment(bytes)).toBe(expected.salt_commitment);
  });

  test('are of fresh salts of 32 bytes', () => {
    const salts = Array.from({ length: 100 }, () => newSalt());
    expect(salts.every(({ length }) => length === 32)).toBe(true);
    expect(new Set(salts.map((salt) => saltCommitment(salt))).size).toBe(100);
  });

  test('open with key and value, and with nothing else', () => {
    fc.assert(
      fc.property(bytes32, label, value, value, (salt, name, text, other) => {
        const commitment = commit(salt, name, text);
        const subkey = openingKey(salt, name);
        expect(checkOpening({ subkey, value: text, commitment })).toBe(true);
        expect(checkOpening({ subkey, value: other, commitment })).toBe(other === text);
        const [first = 0, ...rest] = subkey;
        expect(checkOpening({ subkey: Uint8Array.of(first ^ 1, ...rest), value: text, commitment })).toBe(
          false,
        );
      }),
    );
  });

  test('a key opens no other label, though the value be the same', () => {
    const salt = newSalt();
    for (const opened of COMMITMENT_LABELS) {
      const subkey = openingKey(salt, opened);
      const opens = COMMITMENT_LABELS.filter((name) =>
        checkOpening({ subkey, value: 'same', commitment: commit(salt, name, 'same') }),
      );
      expect(opens).toEqual([opened]);
    }
  });

  test('of class none commit to the empty value', () => {
    const salt = newSalt();
    const commitment = commit(salt, 'settlement', '');
    expect(checkOpening({ subkey: openingKey(salt, 'settlement'), value: '', commitment })).toBe(true);
    expect(commitment).not.toBe(commit(newSalt(), 'settlement', ''));
  });

  test('a key with a zero less or more, which HMAC would take for the same, opens nothing', () => {
    const subkey = new Uint8Array(32).fill(1, 0, 31);
    const commitment = createHmac('sha256', subkey).update('SN-1').digest('hex');
    expect(checkOpening({ subkey, value: 'SN-1', commitment })).toBe(true);
    for (const same of [subkey.slice(0, 31), new Uint8Array(33).fill(1, 0, 31)]) {
      expect(createHmac('sha256', same).update('SN-1').digest('hex')).toBe(commitment);
      expect(() => checkOpening({ subkey: same, value: 'SN-1', commitment })).toThrow(invalid('subkey'));
    }
  });

  test('refuse a salt of another length, half a surrogate pair, and hex of another form', () => {
    for (const salt of [new Uint8Array(0), new Uint8Array(31), new Uint8Array(33)]) {
      expect(() => commit(salt, 'machine', 'x')).toThrow(invalid('salt'));
      expect(() => saltCommitment(salt)).toThrow(invalid('salt'));
    }
    expect(() => commit(newSalt(), 'machine', '\ud800')).toThrow(invalid('value'));
    const opening = { subkey: newSalt(), value: 'x', commitment: 'A'.repeat(64) };
    expect(() => checkOpening(opening)).toThrow(expect.objectContaining({ code: 'invalid_hex' }) as Error);
  });
});
