// Sets the version of everything that is released together: `npm run version -- 0.2.0`. The packages and what they need of each
// other, the lock file, core's VERSION, the Python package, the Helm chart, and the heading of what the changelog has under Unreleased.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  version?: string;
  readonly dependencies?: Record<string, string>;
  /** Of the lock file: manifests by folder, the root’s under the empty name. */
  readonly packages?: Readonly<Record<string, Manifest>>;
}

/** Semantic Versioning 2.0.0, without build metadata, which npm ignores. */
const VERSION = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/**
 * @param root the folder of the repository
 * @param day of the release, `YYYY-MM-DD`
 * @throws Error for a text that is no version, or a changelog that has it or has nothing new
 */
export function setVersion(root: string, version: string, day: string): void {
  if (!VERSION.test(version)) throw new Error(`“${version}” is not a version such as 0.2.0.`);
  const change = (path: string, edit: (text: string) => string): void => {
    const file = join(root, path);
    writeFileSync(file, edit(readFileSync(file, 'utf8')));
  };
  change('CHANGELOG.md', (text) => released(text, version, day));
  for (const path of ['package.json', ...globSync('packages/*/package.json', { cwd: root })]) {
    change(path, (text) => editJson(text, (manifest) => setIn(manifest, version)));
  }
  change('package-lock.json', (text) =>
    editJson(text, (lock) => {
      lock.version = version;
      for (const [path, entry] of Object.entries(lock.packages ?? {})) {
        if (path === '' || path.startsWith('packages/')) setIn(entry, version);
      }
    }),
  );
  change('packages/core/src/version.ts', (text) => text.replace(/(VERSION = ')[^']+/, `$1${version}`));
  change('python/pyproject.toml', (text) => text.replace(/^(version = ")[^"]+/m, `$1${version}`));
  change('python/src/tallystick/__init__.py', (text) =>
    text.replace(/^(__version__ = ")[^"]+/m, `$1${version}`),
  );
  change('deploy/helm/tallystick/Chart.yaml', (text) =>
    text.replace(/^(version|appVersion): .+$/gm, `$1: ${version}`),
  );
}

function setIn(manifest: Manifest, version: string): void {
  manifest.version = version;
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (name.startsWith('@tallystick/') && manifest.dependencies) manifest.dependencies[name] = version;
  }
}

function editJson(text: string, edit: (value: Manifest) => void): string {
  const value = JSON.parse(text) as Manifest;
  edit(value);
  return `${JSON.stringify(value, null, 2)}\n`;
}

function released(changelog: string, version: string, day: string): string {
  if (changelog.includes(`\n## [${version}]`))
    throw new Error(`CHANGELOG.md has a section ${version} already.`);
  if (!/\n## \[Unreleased\]\n+(?!## \[)\S/.test(changelog))
    throw new Error('CHANGELOG.md has nothing under Unreleased.');
  return changelog.replace('\n## [Unreleased]\n', `\n## [Unreleased]\n\n## [${version}] - ${day}\n`);
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  try {
    setVersion(root, process.argv[2] ?? '', new Date().toISOString().slice(0, 10));
  } catch (error) {
    process.stderr.write(`${(error as Error).message} Usage: npm run version -- <version>\n`);
    process.exit(1);
  }
}
