import { expect, it } from 'vitest';
import { evidenceCountsIn, evidenceHeaders } from './evidence-headers.ts';

const counts = { verified: 4, logged: 3, hashed: 2, trusted: 1, issued_in_window: 0 };

it('counts that are said in headers are read again', () => {
  expect(evidenceCountsIn(new Headers(evidenceHeaders(counts)))).toEqual(counts);
});

it.each(['x-evidence-verified', 'x-evidence-in-window'])('%s missing or malformed is no count', (name) => {
  const { [name]: _, ...rest } = evidenceHeaders(counts);
  expect(evidenceCountsIn(new Headers(rest))).toBeNull();
  expect(evidenceCountsIn(new Headers({ ...rest, [name]: 'many' }))).toBeNull();
});
