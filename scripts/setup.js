// Installs the project's packages when the lock file has changed since the last time, and builds the pages and bundles the program
// when their inputs have changed.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}node_modules/.tallystick-setup`;
const expected = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== expected) {
  process.stderr.write('tallystick: installing packages, once …\n');
  // `npm ci` refuses where a registry lacks the optional packages of some other platform; `npm install` does not,
  // and takes the same versions from the lock file.
  const done = npm('ci', 'ignore') === 0 ? 0 : npm('install --no-save', 2);
  if (done !== 0) {
    process.stderr.write(
      'tallystick: npm install failed; the lines above say why. Run `npm run setup` to try again.\n',
    );
    process.exit(done);
  }
  writeFileSync(stamp, expected);
}

// Uses the project's own Node, which is installed by now.
const env = {
  ...process.env,
  PATH: join(root, 'node_modules', '.bin') + delimiter + (process.env.PATH ?? ''),
};
for (const script of [['packages/web/scripts/build.ts', '--stale'], ['scripts/bundle.ts']]) {
  const { status } = spawnSync('node', script, {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** @returns npm's exit status */
function npm(command, output) {
  const args = [...command.split(' '), '--loglevel=error', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', output, output],
    shell: process.platform === 'win32',
  });
  return status ?? 1;
}
