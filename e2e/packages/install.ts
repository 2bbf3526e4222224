import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const QUIETLY = ['--loglevel=error', '--no-audit', '--no-fund'];

/** @throws Error with all that the command said, where it does not end with 0 */
export function must(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

/** Compiles the packages whose sources have changed. Test files that run side by side wait here for one another. */
export function compilePackages(): void {
  mkdirSync(join(root, 'dist'), { recursive: true });
  must('flock', ['dist/compile.lock', 'npm', 'run', '--silent', 'compile'], root);
}

/** Compiles and packs every package. Returns the paths of the tarballs, by the names of the packages. */
export function packPackages(folder: string): ReadonlyMap<string, string> {
  compilePackages();
  must(process.execPath, ['scripts/pack.js', '--to', folder], root);
  return new Map(
    readdirSync(folder).map((file) => [/^tallystick-([a-z-]+)-\d/.exec(file)?.[1] ?? '', join(folder, file)]),
  );
}

/** Installs into an empty folder. What npm has in its cache is not asked for at the registry. */
export function installInto(folder: string, packages: Iterable<string>, ...options: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  must('npm', ['install', '--prefer-offline', ...QUIETLY, ...options, ...packages], folder);
}
