// Installs the server from the packed packages, with its production dependencies in the versions of the lock file:
//   node deploy/image/install.js TARBALLS TARGET
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [tarballs, target] = process.argv.slice(2).map((path) => resolve(path));
const lock = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../package-lock.json', import.meta.url)), 'utf8'),
);

/** `file:` address, seen from the target, of the tarball of `@tallystick/<name>`. */
function packed(name) {
  const file = readdirSync(tarballs).find((entry) => entry.startsWith(`tallystick-${name}-`));
  if (file === undefined) throw new Error(`There is no tarball of ${name} in ${tarballs}.`);
  return `file:${relative(target, tarballs)}/${file}`;
}

/** The lock file's entries with a tarball in the place of each package of the workspace. */
function lockedPackages() {
  return Object.entries(lock.packages).flatMap(([path, entry]) => {
    if (path === '' || entry.dev) return [];
    if (entry.link) {
      const { devDependencies: _dev, ...own } = lock.packages[entry.resolved];
      return [[path, { ...own, resolved: packed(path.split('/').at(-1)) }]];
    }
    const [, name, within] = /^packages\/([^/]+)(.*)$/.exec(path) ?? [];
    if (name === undefined) return [[path, entry]];
    return within === '' ? [] : [[`node_modules/@tallystick/${name}${within}`, entry]];
  });
}

const home = {
  name: 'tallystick-service',
  version: lock.version,
  private: true,
  dependencies: { '@tallystick/server': packed('server') },
};
const packages = { '': home, ...Object.fromEntries(lockedPackages()) };
mkdirSync(target, { recursive: true });
const write = (file, content) => writeFileSync(`${target}/${file}`, `${JSON.stringify(content, null, 2)}\n`);
write('package.json', home);
write('package-lock.json', {
  name: home.name,
  version: home.version,
  lockfileVersion: 3,
  requires: true,
  packages,
});

const flags = [
  '--omit=dev',
  '--ignore-scripts',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
];
const { status } = spawnSync('npm', ['install', ...flags], { cwd: target, stdio: 'inherit' });
process.exit(status ?? 1);
