// The virtual environment of the Python package, python/.venv, with what builds, checks and tests it. As a program it prints the path of
// the interpreter, and nothing where the machine has no Python that is new enough.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest Python that the package runs on. */
export const OLDEST = '3.10';

/** The folder of the package. */
export const FOLDER = fileURLToPath(new URL('../python', import.meta.url));

const venv = join(FOLDER, '.venv');
const stamp = join(venv, '.tallystick-setup');
/** Holds the number of the process that makes the environment. */
const lock = join(FOLDER, '.venv.lock');
const WAIT_MS = 200;

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
  const isMade = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === expected;
  if (isMade()) return interpreter;
  takeLock();
  // Another process may have made it meanwhile.
  if (!isMade()) {
    process.stderr.write('python: making python/.venv, once …\n');
    run(found.command, ['-m', 'venv', '--clear', venv]);
    installPython(interpreter, '--editable', '.[test]');
    writeFileSync(stamp, expected);
  }
  rmSync(lock);
  return interpreter;
}

/**
 * Installs packages into an environment that has pip: by uv, which takes a sixth of the time, or by pip where uv is not to be had or
 * fails, and where pip is configured to ask another index, of which uv would know nothing. Ends the process where both fail.
 * @param {string} interpreter the environment's
 * @param {...string} what as for `pip install`
 */
export function installPython(interpreter, ...what) {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const uv = ['-m', 'uv', 'pip', 'install', '--quiet', '--python', interpreter];
  const runs = (args) => spawnSync(interpreter, args, { cwd: FOLDER, stdio: 'ignore' }).status === 0;
  const configured = spawnSync(interpreter, ['-m', 'pip', 'config', 'list'], { encoding: 'utf8' });
  const isPlain = configured.status === 0 && !/index/.test(configured.stdout);
  if (isPlain && runs([...pip, 'uv']) && runs([...uv, ...what])) return;
  // Python compiles modules when they are used: to compile all of them takes longer than to install them.
  run(interpreter, [...pip, '--no-compile', ...what]);
}

/** Waits until no other process makes the environment. A process that ended in the middle has left its lock. */
function takeLock() {
  for (;;) {
    try {
      return writeFileSync(lock, String(process.pid), { flag: 'wx' });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isLockLeft()) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
}

function isLockLeft() {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
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
