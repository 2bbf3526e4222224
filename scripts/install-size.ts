// Prints the disk space that a production installation of a package takes, Node itself not counted: the package and all that it
// depends on by the lock file, optional packages of this platform included, in blocks of 4,096 bytes. `node scripts/install-size.ts [server]`.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Installed {
  /** Path of its folder below the root. */
  readonly path: string;
  readonly bytes: number;
}

/** The packages in a production installation of `packages/<name>`, the largest first. */
export function productionInstall(name: string): Installed[] {
  return [...neededInProduction(name).keys()]
    .map((path) => ({ path, bytes: path.startsWith('packages/') ? sizeOf(`${path}/src`) : sizeOf(path) }))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes);
}

/** What `packages/<name>` needs when it runs, itself included: the lock file's entries by folder, those of other platforms too. */
export function neededInProduction(name: string): ReadonlyMap<string, Locked> {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const found = new Map<string, Locked>();
  const visit = (path: string): void => {
    const entry = packages[path];
    if (entry === undefined) return;
    if (entry.link === true) {
      visit(entry.resolved ?? '');
      return;
    }
    if (found.has(path)) return;
    found.set(path, entry);
    for (const needed of neededBy(entry)) visit(placeOf(packages, path, needed));
  };
  visit(`packages/${name}`);
  return found;
}

function neededBy({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: Locked): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** The folder in which Node finds a package: the node_modules of the importing folder, or the nearest above. */
function placeOf(packages: Readonly<Record<string, Locked>>, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[place] !== undefined || folder === '') return place;
  }
}

const BLOCK = 4_096;

/** Size in bytes of the blocks of a folder, without packages within it; 0 if it is not installed, as for other platforms. */
function sizeOf(path: string): number {
  const folder = `${root}${path}`;
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return 0;
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .reduce((sum, entry) => {
      const own = `${path}/${entry.name}`;
      if (entry.isDirectory()) return sum + sizeOf(own);
      return sum + Math.ceil(statSync(`${root}${own}`).size / BLOCK) * BLOCK;
    }, BLOCK);
}

if (import.meta.main) {
  const [name = 'server'] = process.argv.slice(2);
  const installed = productionInstall(name);
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1).padStart(7);
  const total = installed.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of installed.slice(0, 20))
    process.stdout.write(`${megabytes(bytes)} MB  ${path}\n`);
  process.stdout.write(`${megabytes(total)} MB  in ${installed.length} packages\n`);
}
