import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { digests } from '../test/fixed.ts';

const at = (path: string): URL => new URL(`../test/${path}`, import.meta.url);
/** To be written again by `node packages/compress/test/print-digests.ts` where a change of bytes is meant. */
const table = JSON.parse(readFileSync(at('digests.json'), 'utf8')) as Record<string, string>;

test('the same bytes as ever', () => {
  expect(digests()).toStrictEqual(table);
});

test('the same bytes once more, when counts and terms are remembered', () => {
  expect(digests()).toStrictEqual(table);
});

test('the same bytes in another process', () => {
  const printed = execFileSync(process.execPath, [fileURLToPath(at('print-digests.ts'))], {
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toStrictEqual(table);
});
