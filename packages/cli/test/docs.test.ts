import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bin, clean, type Service, serve, workspace } from './tally.ts';

/** Blocks marked `sh run`, in their order, with the exit status that is promised. */
function examplesOf(page: string) {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/```sh run(?: exit=(\d))?\n([\s\S]*?)```/g)].map(
    ([, exit = '0', script = '']) => ({
      exit: Number(exit),
      script,
      first: script.split('\n')[0] ?? '',
    }),
  );
}

describe.each(['cli.md', 'metering.md', 'rosetta.md', 'tenants.md'])('docs/%s', (page) => {
  const { at, home, remove } = workspace();
  const examples = examplesOf(page);
  let service: Service;
  beforeAll(async () => {
    mkdirSync(at('desk'));
    service = await serve(at('data'), { env: { TALLY_DEVNET: 'on', TALLY_ANCHOR_PERIOD_SECONDS: '1' } });
  });
  afterAll(async () => {
    await service.stop();
    remove();
  });

  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(1);
  });

  // In order: later examples use what earlier ones wrote.
  test.each(examples)('$first', ({ script, exit }) => {
    const shell = `tally() { '${process.execPath}' '${bin}' "$@"; }\nset -euo pipefail\n${script}`;
    const env = { ...clean, ...service.env, TALLY_HOME: home };
    const { status, stderr } = spawnSync('bash', ['-c', shell], { cwd: at('desk'), env, encoding: 'utf8' });
    expect({ status, stderr: status === exit ? '' : stderr }).toEqual({ status: exit, stderr: '' });
  });
});
