import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMMIT = readFileSync(new URL('./neighbour.txt', import.meta.url), 'utf8').trim();

/** Whether the history holds the release before this one. That of a shallow clone does not. */
export function hasNeighbour(): boolean {
  return spawnSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: ROOT }).status === 0;
}

/** Unpacks the release before this one from the history, and returns the path of its `tally.js`. */
export function unpackNeighbour(): string {
  const folder = temporaryFolder();
  const archive = execFileSync('git', ['archive', COMMIT, 'package.json', 'packages'], {
    cwd: ROOT,
    maxBuffer: 2 ** 30,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  // Both releases share the packages of others; each has the project's packages of its own.
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@tallystick'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@tallystick') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(modules, '@tallystick', name));
  }
  // It does not start without pages of its own.
  execFileSync(process.execPath, [join(folder, 'packages/web/scripts/build.ts')], { stdio: 'ignore' });
  return join(folder, 'packages/cli/bin/tally.js');
}
