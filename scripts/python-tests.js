// Lints, type-checks and tests the Python package in its virtual environment. Arguments are passed on to pytest.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { FOLDER, OLDEST, setUpPython } from './python-venv.js';

const python = setUpPython();
if (python === undefined) {
  process.stderr.write(
    `python: skipped, there is no Python ${OLDEST} or later here. Install it, or name it in PYTHON.\n`,
  );
  process.exit(process.env.CI === undefined || process.env.CI === '' || process.env.CI === 'false' ? 0 : 1);
}
run('ruff', 'check', '--quiet');
run('ruff', 'format', '--check', '--quiet');
run('mypy', '--no-error-summary');
run('pytest', ...process.argv.slice(2));

/** Runs a module of the environment. Ends the process with the status of one that fails. */
function run(...args) {
  const { status } = spawnSync(python, ['-m', ...args], { cwd: FOLDER, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
