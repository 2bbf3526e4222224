// Installs the project's packages when the lock file has changed since the last time.
// Plain JavaScript without dependencies: it runs on whatever Node the machine has (18 or later).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}node_modules/.tallystick-setup`;
const wanted = createHash('sha256')
  .update(readFileSync(`${root}package-lock.json`))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  process.stderr.write('tallystick: installing packages (npm ci), once …\n');
  const done = spawnSync('npm', ['ci', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) {
    process.stderr.write(
      'tallystick: npm ci failed; the lines above say why. Run `npm run setup` to try again.\n',
    );
    process.exit(done.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}
