import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/tallystick-go', import.meta.url));

/** Version of Go that builds, whichever is installed: torchwood needs 1.27. */
const GOTOOLCHAIN = 'go1.27.3';

/** Flags that turn the compiler's optimization off: these programs take longer to build than they run in the tests. */
const BUILDING = ['-ldflags=-s -w', '-gcflags=all=-N -l'];

/** Outside of any module unless a folder is given, so that nothing but the version that is asked for counts. */
const go = (args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = tmpdir()): string =>
  execFileSync('go', args, {
    cwd,
    env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Path of a program that is built from its Go module; it is built once and kept. @param version `v1.2.3` */
export function goProgram(path: string, version: string): string {
  const folder = join(CACHE, `${path.replaceAll('/', '-')}@${version}`);
  const program = join(folder, basename(path));
  if (!existsSync(program)) go(['install', ...BUILDING, `${path}@${version}`], { GOBIN: folder });
  return program;
}

/** Path of the program of a folder beside this file. */
export function ownGoProgram(name: string): string {
  const program = join(CACHE, name);
  go(['build', ...BUILDING, '-o', program, '.'], {}, fileURLToPath(new URL(name, import.meta.url)));
  return program;
}

/** Folder with the files of a Go module. @param version `v1.2.3` */
export function goModule(path: string, version: string): string {
  return (JSON.parse(go(['mod', 'download', '-json', `${path}@${version}`])) as { Dir: string }).Dir;
}
