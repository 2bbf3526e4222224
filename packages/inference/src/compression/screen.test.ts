import { compress } from '@tallystick/compress';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rows } from '../../../server/test/compressible.ts';
import { isWorthNoting, mayGain } from './screen.ts';

const word = fc.constantFrom(
  'the',
  'ferry',
  'leaves',
  '[',
  '{',
  '"a":1',
  '}',
  ']',
  '|',
  '—',
  '  ',
  '{"a": 1}',
);
const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
const lines = fc
  .array(fc.tuple(line, fc.integer({ min: 1, max: 4 })), { maxLength: 20 })
  .map((runs) => runs.flatMap(([text, count]) => Array.from({ length: count }, () => text)).join('\n'));
const json = fc
  .tuple(fc.json(), fc.nat(4))
  .map(([text, indent]) => JSON.stringify(JSON.parse(text), null, indent));
const text = fc.oneof(
  lines,
  json,
  fc.tuple(lines, json, lines).map((parts) => parts.join('\n')),
  fc.string(),
);
const message = fc.record({
  role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
  content: fc.oneof(
    text,
    text.map((one) => one.repeat(8)),
    fc.array(
      text.map((one) => ({ type: 'text', text: one })),
      { maxLength: 3 },
    ),
  ),
});

describe('a prompt that is not looked into', () => {
  it('is one that lossless compression leaves as it is', () => {
    let turnedAway = 0;
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        if (mayGain(messages)) return;
        turnedAway += 1;
        expect(compress(messages).messages).toEqual(messages);
      }),
      { numRuns: 1_000 },
    );
    expect(turnedAway).toBeGreaterThan(100);
  });

  it.each([
    ['white space in JSON', 'tool', JSON.stringify(rows(3), null, 2)],
    ['JSON behind words', 'tool', `Result:\n${JSON.stringify(rows(3), null, 2)}`],
    ['a line three times', 'user', `${'A long question. '.repeat(50)}\n${'again\n'.repeat(3)}`],
  ])('is none with %s', (_, role, content) => {
    expect(mayGain([{ role, content }])).toBe(true);
  });

  it('is one with the user’s short words, the system’s and the assistant’s, and with prose', () => {
    const table = JSON.stringify(rows(3), null, 2);
    for (const role of ['system', 'assistant', 'developer'])
      expect(mayGain([{ role, content: table }])).toBe(false);
    expect(mayGain([{ role: 'user', content: '{"a": 1}' }])).toBe(false);
    expect(mayGain([{ role: 'user', content: 'Nothing here comes twice. '.repeat(1_000) }])).toBe(false);
  });

  it('is written down where a later call may cut what a provider may have cached', () => {
    const long = 'Nothing here comes twice. '.repeat(100);
    expect(isWorthNoting([{ role: 'user', content: long }])).toBe(true);
    expect(isWorthNoting([{ role: 'assistant', content: long }])).toBe(false);
    expect(isWorthNoting([{ role: 'tool', content: 'short' }])).toBe(false);
  });
});
