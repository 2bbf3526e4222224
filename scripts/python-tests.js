// Lints, type-checks and tests the Python package in a virtual environment of its own, python/.venv, which is
// made anew when python/pyproject.toml or the interpreter changes. Arguments are passed on to pytest.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../python', import.meta.url));
const venv = join(folder, '.venv');
const stamp = join(venv, '.tallystick-setup');
const python =
  process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');
const OLDEST = [3, 10];

/** The first Python on the machine that is new enough, as command and full version; undefined if there is none. */
function findPython() {
  const names = [
    process.env.PYTHON,
    'python3',
    'python3.14',
    'python3.13',
    'python3.12',
    'python3.11',
    'python3.10',
    'python',
  ];
  for (const command of names) {
    if (command === undefined || command === '') continue;
    const { stdout } = spawnSync(command, ['-c', 'import sys; print(sys.version)'], { encoding: 'utf8' });
    const [major, minor] = (stdout ?? '').split('.').map(Number);
    if (major === OLDEST[0] && minor >= OLDEST[1]) return { command, version: stdout.trim() };
  }
  return undefined;
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' });
  if (error !== undefined) process.stderr.write(`python: ${command} cannot be run: ${error.message}.\n`);
  if (status !== 0) process.exit(status ?? 1);
}

const found = findPython();
if (found === undefined) {
  const expected = `Python ${OLDEST.join('.')} or later`;
  process.stderr.write(`python: skipped, there is no ${expected} here. Install it, or name it in PYTHON.\n`);
  process.exit(process.env.CI === undefined || process.env.CI === '' || process.env.CI === 'false' ? 0 : 1);
}

const expected = createHash('sha256')
  .update(readFileSync(join(folder, 'pyproject.toml')))
  .update(found.version)
  .digest('hex');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== expected) {
  process.stderr.write('python: making python/.venv, once …\n');
  run(found.command, ['-m', 'venv', '--clear', venv]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--editable', '.[test]']);
  writeFileSync(stamp, expected);
}
run(python, ['-m', 'ruff', 'check', '--quiet']);
run(python, ['-m', 'ruff', 'format', '--check', '--quiet']);
run(python, ['-m', 'mypy', '--no-error-summary']);
run(python, ['-m', 'pytest', ...process.argv.slice(2)]);
