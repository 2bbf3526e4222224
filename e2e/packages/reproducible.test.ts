import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, packPackages } from './install.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Inside the repository, where hard links to node_modules can be made.
const folder = join(root, 'dist/second-build');

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Nothing of e2e is packed, and other tests have files there that go away.
  const wanted = ['--cached', '--others', '--exclude-standard', '-z', '--', ':!e2e'];
  const files = must('git', ['ls-files', ...wanted], root);
  for (const file of files.split('\0')) if (file !== '') cpSync(join(root, file), join(folder, file));
  must('cp', ['-al', 'node_modules', join(folder, 'node_modules')], root);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a second build in another folder, time zone and file mode gives the same bytes', () => {
  const first = digests(packPackages(join(folder, 'first')).values());
  const path = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`;
  const commands =
    'umask 077; npm run --silent compile; node packages/web/scripts/build.ts; node scripts/pack.js --to second';
  must('env', [`PATH=${path}`, 'TZ=Asia/Tokyo', 'bash', '-euc', commands], folder);
  const second = [...first.keys()].map((file) => join(folder, 'second', file));
  expect(digests(second)).toEqual(first);
});

function digests(files: Iterable<string>): ReadonlyMap<string, string> {
  const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
  return new Map([...files].map((file) => [basename(file), digest(file)]));
}
