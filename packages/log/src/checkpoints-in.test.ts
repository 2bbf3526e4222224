import { expect, test } from 'vitest';
import { checkpointsIn } from './checkpoints-in.ts';

const note = (size: number, origin = 'log.example'): string =>
  `${origin}\n${size}\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— ${origin} AAAAAAAA\n`;
const proof = (size: number): string => `c2sp.org/tlog-proof@v1\nindex 0\n\n${note(size)}`;

test.each([
  ['a note', note(3), [note(3)]],
  ['a tlog-proof', proof(3), [note(3)]],
  [
    'JSON, wherever it stands',
    JSON.stringify({ a: [{ note: note(1) }, note(2)], b: note(1) }),
    [note(1), note(2)],
  ],
  [
    'JSON Lines',
    `${JSON.stringify({ anchor: note(1) })}\n${JSON.stringify([note(2)])}\n`,
    [note(1), note(2)],
  ],
  ['another log', note(3, 'other.example'), []],
  ['a log whose origin begins alike', note(3, 'log.example/other'), []],
  ['nothing', '', []],
])('finds checkpoints in %s', (_, text, expected) => {
  expect(checkpointsIn(text, 'log.example')).toEqual(expected);
});
