import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { setUpPython } from '../../scripts/python-venv.js';

test('Python finds and names one change in each of 10,000 random sessions', () => {
  const python = setUpPython() ?? 'python3';
  const { stdout } = spawnSync(python, ['-m', 'pytest', 'tests/test_session_faults.py'], {
    cwd: fileURLToPath(new URL('../../python', import.meta.url)),
    env: { ...process.env, TALLY_TEST_SESSIONS: '10000' },
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/^10 passed in [^,]+$/m);
});
