import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

// Builds the pages (`npm run build:web`) into built/, or the folder given by `--to`. With `--stale` only if their
// inputs have changed since. As many pages are built at a time as the machine has processors.

const root = new URL('../../../', import.meta.url);

/** Inputs of the pages, the versions of libraries and tools included. */
const INPUTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
  'packages/{core,web}/{package,tsconfig}.json',
  'packages/{core,web}/src/**/*',
  'packages/web/scripts/*',
];
const TESTS = '**/*.test.ts';

/** File in the folder that holds the digest of the inputs, and below it the names of the files built from them. */
const STAMP = '.inputs';

/** Assets of text. */
const TEXT = /\.(?:js|css|txt)$/;

/** By how much a file system may round the time of a file down. */
const CLOCK_MS = 2_000;

/** The files that one thread builds: every `of`-th, beginning with number `at`. */
interface Share {
  readonly folder: string;
  readonly at: number;
  readonly of: number;
}

if (isMainThread) await main();
else await buildShare(workerData as Share);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { stale: { type: 'boolean' }, to: { type: 'string' } } });
  const folder =
    values.to === undefined ? new URL('../built/', import.meta.url) : pathToFileURL(`${values.to}/`);
  const inputs = digestOfInputs();
  if (values.stale === true && isBuilt(folder, inputs)) return;
  process.stderr.write('tallystick: building the pages …\n');
  mkdirSync(folder, { recursive: true });
  const started = Date.now() - CLOCK_MS;
  const of = availableParallelism();
  await Promise.all(Array.from({ length: of }, (_, at) => inThread({ folder: folder.href, at, of })));
  removeOlder(new URL('assets/', folder), started);
  const { outputs } = await import('./page.ts');
  setContents(folder, STAMP, [inputs, ...Object.keys(outputs)].join('\n'));
}

function digestOfInputs(): string {
  const digest = createHash('sha256');
  for (const path of globSync(INPUTS, { cwd: root, exclude: [TESTS] }).toSorted()) {
    const file = new URL(path, root);
    if (statSync(file).isFile()) digest.update(`${path}\0`).update(readFileSync(file)).update('\0');
  }
  return digest.digest('hex');
}

function isBuilt(folder: URL, inputs: string): boolean {
  const stamp = new URL(STAMP, folder);
  if (!existsSync(stamp)) return false;
  const [of, ...files] = readFileSync(stamp, 'utf8').split('\n');
  return of === inputs && files.every((file) => existsSync(new URL(file, folder)));
}

function inThread(share: Share): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share });
    worker.once('error', reject);
    worker.once('exit', () => resolve());
  });
}

async function buildShare({ folder, at, of }: Share): Promise<void> {
  const { outputs } = await import('./page.ts');
  for (const [index, [file, build]] of Object.entries(outputs).entries()) {
    if (index % of !== at) continue;
    const { contents, script, assets } = await build();
    // First, so that no page names a file that is not there.
    if (assets !== undefined) setAssets(new URL('assets/', folder), assets);
    setContents(new URL(folder), file, contents);
    if (script === undefined || script === null) continue;
    const gzipped = gzipSync(script, { level: 9 }).length;
    process.stdout.write(`${file}: ${contents.length} characters; its script is ${gzipped} bytes gzipped.\n`);
  }
}

/** Writes these files, those of text gzipped: nearly every client takes them so. */
function setAssets(folder: URL, assets: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true });
  for (const [file, contents] of assets) {
    if (TEXT.test(file)) setContents(folder, `${file}.gz`, gzipSync(contents, { level: 9 }));
    else setContents(folder, file, contents);
  }
}

/** Removes what earlier builds wrote. @param since Unix milliseconds */
function removeOlder(folder: URL, since: number): void {
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    const url = new URL(file, folder);
    if (statSync(url).mtimeMs < since) rmSync(url);
  }
}

/** Writes a file in one step, so that nobody reads half of it. */
function setContents(folder: URL, file: string, contents: string | Uint8Array): void {
  const part = new URL(`.${file}.${process.pid}`, folder);
  writeFileSync(part, contents);
  renameSync(part, new URL(file, folder));
}
