import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { suggest } from './suggest.ts';

const known = ['input', 'purpose', 'agent_did', 'payload_sha256', 'content_type'];

it.each([
  ['inputs', 'input'],
  ['Input', 'input'],
  ['inptu', 'input'],
  ['prupose', 'purpose'],
  ['agentdid', 'agent_did'],
  ['payload_sha265', 'payload_sha256'],
  ['colour', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
])('%s -> %s', (name, expected) => {
  expect(suggest(name, known)).toBe(expected);
});

it('finds any known name with one character left out', () => {
  fc.assert(
    fc.property(fc.constantFrom(...known), fc.nat(), (name, at) => {
      const index = at % name.length;
      expect(suggest(name.slice(0, index) + name.slice(index + 1), known)).toBe(name);
    }),
  );
});
