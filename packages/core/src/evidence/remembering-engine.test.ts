import { expect, it } from 'vitest';
import { RememberingEngine } from './remembering-engine.ts';

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

/** Says that a message of one byte below ten is signed, and counts how often it was asked. */
function counting() {
  const asked: string[] = [];
  const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
    asked.push([key, message, signature].join(' '));
    return (message[0] ?? 0) < 10;
  };
  return { asked, verify };
}

it('asks once for the same signature, and again for another key or message', () => {
  const behind = counting();
  const engine = new RememberingEngine(behind, 8);
  for (let i = 0; i < 3; i++) expect(engine.verify(bytes(1), bytes(2), bytes(3))).toBe(true);
  expect(behind.asked).toHaveLength(1);
  expect(engine.verify(bytes(1), bytes(20), bytes(3))).toBe(false);
  expect(engine.verify(bytes(9), bytes(20), bytes(3))).toBe(false);
  expect(behind.asked).toEqual(['1 2 3', '1 20 3', '9 20 3']);
});

it('keeps what was used last, and no more than its limit', () => {
  const behind = counting();
  const engine = new RememberingEngine(behind, 2);
  for (const signature of [1, 2, 1, 3, 1, 2]) {
    expect(engine.verify(bytes(0), bytes(0), bytes(signature))).toBe(true);
  }
  expect(behind.asked).toEqual(['0 0 1', '0 0 2', '0 0 3', '0 0 2']);
});
