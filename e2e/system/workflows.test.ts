import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7';

test('actionlint finds nothing in the workflows', () => {
  const { stdout, stderr, status } = spawnSync('go', ['run', ACTIONLINT, '-color=false'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ stdout, stderr: status === 0 ? '' : stderr, status }).toEqual({
    stdout: '',
    stderr: '',
    status: 0,
  });
});
