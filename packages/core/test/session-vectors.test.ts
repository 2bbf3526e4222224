import { expect, test } from 'vitest';
import type { OpenedValueCase, SaltedHashCase, SessionCase } from '../../../scripts/vectors/sessions.ts';
import {
  checkOpenedValue,
  commitSalt,
  fromHex,
  saltedHash,
  saltOf,
  TallyError,
  toHex,
  trustOf,
  verifySession,
} from '../src/index.ts';
import { readVectors, stores } from './receipt-vectors.ts';

test.each(readVectors<SessionCase>('sessions.json'))('sessions.json: $name', async (vector) => {
  const { file, key, referenced, now, authority, expected } = vector;
  const trust = trustOf(stores[vector.trust], authority === undefined ? [] : [authority]);
  const verdict = await verifySession(file, { now: Date.parse(now), trust, key, referenced });
  const { valid, integrity, trusted, state, count, head, anchored_up_to, references } = verdict;
  const faults = verdict.faults.map(({ name, line, seq }) => ({ name, line, seq }));
  const found = { valid, integrity, trusted, state, count, head, anchored_up_to, references, faults };
  expect(found).toEqual(expected);
  const doubts = verdict.notes.filter((note) => note.includes('anchors do not count'));
  expect(doubts).toHaveLength(vector.name === 'anchored-in-an-unknown-log' ? 1 : 0);
});

test.each(readVectors<SaltedHashCase>('session-hashes.json'))('session-hashes.json: $name', (vector) => {
  const sessionSalt = fromHex(vector.session_salt);
  const salt = saltOf(sessionSalt, vector.seq, vector.part);
  const value = 'json' in vector.value ? vector.value : { raw: fromHex(vector.value.raw) };
  expect(commitSalt(sessionSalt)).toBe(vector.salt_commitment);
  expect([toHex(salt), saltedHash(salt, value)]).toEqual([vector.salt, vector.hash]);
});

test.each(readVectors<OpenedValueCase>('session-openings.json'))(
  'session-openings.json: $name',
  async (vector) => {
    const { file, now, opening, expected } = vector;
    const verdict = await verifySession(file, { now: Date.parse(now) });
    const outcome = (): string => {
      try {
        return checkOpenedValue(opening, verdict);
      } catch (error) {
        if (error instanceof TallyError) return error.code;
        throw error;
      }
    };
    expect(outcome()).toBe(expected);
  },
);
