import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clean, type Service, serve } from '../../packages/cli/test/tally.ts';
import { bundleFor, expectNoBuiltins, openChromium } from '../../packages/core/test/chromium.ts';
import { installInto, packPackages } from './install.ts';
import { compileProgram, expectAllTrue, expectRuns, type Program } from './program.ts';

// Outside the repository, so that no package is found there by chance.
const folder = mkdtempSync(join(tmpdir(), 'tally-packages-'));
const at = (...path: readonly string[]): string => join(folder, ...path);
const app = at('app');
const names = readdirSync(new URL('../../packages', import.meta.url));

/** The texts within a JSON value, without the names of members. */
const leavesOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(leavesOf);

beforeAll(() => {
  const tarballs = packPackages(at('packed'));
  installInto(app, tarballs.values());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(names)('@tallystick/%s as it is published', (name) => {
  const home = join(app, 'node_modules/@tallystick', name);
  const read = (file: string): string => readFileSync(join(home, file), 'utf8');
  const files = (): string[] =>
    readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1));

  test('says what a registry shows', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({
      description: expect.stringMatching(/.{20}/),
      license: 'Apache-2.0',
      keywords: expect.arrayContaining(['receipts']),
      engines: { node: expect.stringMatching(/^>=(20|22|24)$/) },
      homepage: expect.stringMatching(/^https:/),
      bugs: expect.stringMatching(/^https:/),
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:/), directory: `packages/${name}` },
      publishConfig: { access: 'public' },
    });
    expect(read('README.md')).toMatch(new RegExp(`^# @tallystick/${name}\n`));
    expect(read('CHANGELOG.md')).toMatch(/^# Changelog\n/);
    expect(read('LICENSE')).toContain('Apache License');
  });

  test('has no test, no source map and no program but JavaScript', () => {
    expect(files().filter((file) => /(?:^|[/.-])(?:test|suite)[/.]|\.map$/.test(file))).toEqual([]);
    expect(files().filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
    const pointing = files().filter(
      (file) => /\.(?:js|ts)$/.test(file) && read(file).includes('sourceMappingURL'),
    );
    expect(pointing).toEqual([]);
  });

  test('has every file that its exports, types and commands name', () => {
    const { exports, types = [], bin = [] } = JSON.parse(read('package.json'));
    const missing = leavesOf([exports, types, bin]).filter((file) => !existsSync(join(home, file)));
    expect(missing).toEqual([]);
  });
});

describe('a service out of the packages', () => {
  let service: Service;
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const npx = (...args: readonly string[]) =>
    spawnSync('npx', ['--offline', 'tally', ...args], {
      cwd: app,
      encoding: 'utf8',
      env: { ...clean, ...service.env, PATH: path, TALLY_HOME: at('home') },
    });

  beforeAll(async () => {
    service = await serve(at('data'), { bin: join(app, 'node_modules/.bin/tally') });
  });
  afterAll(() => service.stop());

  test('mints a receipt, which verifies', () => {
    const receipt = at('receipt.json');
    expect(npx('mint', '--text', 'hello', '--out', receipt)).toMatchObject({ status: 0 });
    expect(npx('trust', 'fetch')).toMatchObject({ status: 0 });
    expect(npx('verify', receipt)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^✓ Valid/) });
  });

  test.each(['/', '/verify', '/docs', '/keys', '/v1/compute/benchmark'])('answers %s', async (page) => {
    const answer = await fetch(`${service.url}${page}`, { headers: { accept: 'text/html' } });
    expect(answer.status).toBe(200);
  });

  test('answers a model call', async () => {
    const answer = await fetch(`${service.url}/v1/compute/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [{ role: 'user', content: 'The ferry leaves at 7:40. When does it leave?' }],
      }),
    });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { role: 'assistant' } }] });
  });
});

describe.each<Program>(['receipts-program', 'prompts-program'])('%s, a program of a user', (program) => {
  beforeAll(() => {
    compileProgram(app, program);
  });

  test('runs in the project’s Node', () => expectRuns(app, program, [process.execPath]));

  test('runs in Chromium, bundled by esbuild without a Node builtin', async () => {
    const bundle = await bundleFor(pathToFileURL(join(app, `${program}.js`)), 'program');
    expectNoBuiltins(bundle);
    const chromium = await openChromium(bundle);
    try {
      const page = await chromium.browser.newPage();
      await page.goto(`http://127.0.0.1:${chromium.port}/`);
      expectAllTrue(await page.evaluate('program.main()'));
    } finally {
      await chromium.close();
    }
  });
});

test('the SDK’s declarations have the types of the web platform where the compiler knows them', () => {
  expect(compileProgram(app, 'platform-types', 'dom')).toBe('');
});
