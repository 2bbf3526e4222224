// The virtual environment of the Python package, python/.venv, with what builds, checks and tests it. As a program it prints the path of
// the interpreter, and nothing where the machine has no Python that is new enough.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest Python that the package runs on. */
export const OLDEST = '3.10';

/** The folder of the package. */
export const FOLDER = fileURLToPath(new URL('../python', import.meta.url));

const venv = join(FOLDER, '.venv');
const stamp = join(venv, '.tallystick-setup');

/**
 * Makes the environment where there is none, or anew where python/pyproject.toml or the machine's Python has changed. Ends the
 * process where that fails.
 * @returns {string | undefined} its interpreter; undefined where the machine has no Python that is new enough
 */
export function setUpPython() {
  const found = findPython();
  if (found === undefined) return undefined;
  const interpreter =
    process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');
  const expected = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'pyproject.toml')))
    .update(found.version)
    .digest('hex');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== expected) {
    process.stderr.write('python: making python/.venv, once …\n');
    run(found.command, ['-m', 'venv', '--clear', venv]);
    run(interpreter, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--editable',
      '.[test]',
    ]);
    writeFileSync(stamp, expected);
  }
  return interpreter;
}

/** The first Python on the machine that is new enough, as command and full version; undefined if there is none. */
function findPython() {
  const [oldestMajor, oldestMinor] = OLDEST.split('.').map(Number);
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
    if (major === oldestMajor && minor >= oldestMinor) return { command, version: stdout.trim() };
  }
  return undefined;
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: FOLDER, stdio: 'inherit' });
  if (error !== undefined) process.stderr.write(`python: ${command} cannot be run: ${error.message}.\n`);
  if (status !== 0) process.exit(status ?? 1);
}

if (import.meta.main) process.stdout.write(setUpPython() ?? '');
