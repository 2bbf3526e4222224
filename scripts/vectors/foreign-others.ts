import { NOW } from './cases.ts';
import type { ForeignCase } from './foreign.ts';

/** Files that hold no foreign receipt. */
export function foreignOtherCases(): ForeignCase[] {
  const files: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['blank', ' \n\n'],
    ['empty object', '{}'],
    ['empty list', '[]'],
    ['number', '1'],
    ['list of numbers', '[1, 2]'],
    ['text', 'hello\n'],
    ['lines of text', 'a\nb\n'],
    ['member twice', '{"payload": 1, "payload": 2}'],
    ['x402 without a signature', '{"format": "jws"}'],
    ['offers of another kind', '{"offers": [{"price": 1}]}'],
    ['payload alone', '{"payload": {}}'],
  ];
  return files.map(([name, file]) => ({
    name,
    comment: 'No foreign receipt.',
    file,
    keys: [],
    trust: 'empty',
    now: NOW,
    expected: null,
  }));
}
