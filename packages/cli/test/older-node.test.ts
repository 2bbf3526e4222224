import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { bin, run, serve, workspace } from './tally.ts';

const { at, remove } = workspace();
afterAll(remove);

/** The first Node older than 24 on this machine. */
const older = ['/usr/local/bin', '/usr/bin', ...(process.env.PATH ?? '').split(delimiter)]
  .map((folder) => join(folder, 'node'))
  .find(
    (node) =>
      existsSync(node) && Number(/^v(\d+)/.exec(spawnSync(node, ['--version']).stdout.toString())?.[1]) < 24,
  );

describe.skipIf(older === undefined)('with a Node older than 24 (skipped where the machine has none)', () => {
  const command = [older ?? '', bin];

  test('the project’s own Node runs the command: output, input and exit code pass through', async () => {
    expect(await run(['--version'], { command })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    const { code, stdout } = await run(['verify', '-'], {
      command,
      input: '{}',
      env: { TALLY_HOME: at('home') },
    });
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Standard input is not a receipt/),
    });
  });

  test('a signal reaches the service, which drains and ends', async () => {
    const service = await serve(at('data'), { node: older ?? '' });
    const exited = once(service.child, 'exit');
    await service.stop();
    expect(await exited).toEqual([0, null]);
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow('fetch failed');
  });
});
