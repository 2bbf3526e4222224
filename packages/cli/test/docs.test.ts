import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bin, clean, type Service, serve, workspace } from './tally.ts';

const { at, home, remove } = workspace();
const text = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');

/** Blocks marked `sh run`, in their order, with the exit status that is promised. */
const examples = [...text.matchAll(/```sh run(?: exit=(\d))?\n([\s\S]*?)```/g)].map(
  ([, exit = '0', script = '']) => ({
    exit: Number(exit),
    script,
    first: script.split('\n')[0] ?? '',
  }),
);

let service: Service;
beforeAll(async () => {
  mkdirSync(at('desk'));
  service = await serve(at('data'));
});
afterAll(async () => {
  await service.stop();
  remove();
});

test('docs/cli.md has examples', () => {
  expect(examples.length).toBeGreaterThan(8);
});

// In order: later examples use what earlier ones wrote.
test.each(examples)('docs/cli.md: $first', ({ script, exit }) => {
  const shell = `tally() { '${process.execPath}' '${bin}' "$@"; }\nset -euo pipefail\n${script}`;
  const env = { ...clean, ...service.env, TALLY_HOME: home };
  const { status, stderr } = spawnSync('bash', ['-c', shell], { cwd: at('desk'), env, encoding: 'utf8' });
  expect({ status, stderr: status === exit ? '' : stderr }).toEqual({ status: exit, stderr: '' });
});
