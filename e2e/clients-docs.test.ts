import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setUpPython } from '../scripts/python-venv.js';
import { blocks, expectPrints, pages, textOf } from './clients-docs.ts';
import { type Served, serve, temporaryFolder } from './process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Their clients run in e2e/system, which the package registry brings. */
const ELSEWHERE = ['README.md', 'claude-code.md', 'codex.md'];

test('each page of docs/clients is listed, and has a block that a test runs', () => {
  const listed = textOf('README.md').matchAll(/^\| \[[^\]]+\]\(([\w-]+\.md)\)/gm);
  expect([...listed, ['', 'README.md']].map(([, page = '']) => page).toSorted()).toEqual(pages.toSorted());
  const run = new Set(['run', 'run-system'].flatMap(blocks).map(({ page }) => page));
  expect(pages.filter((page) => !run.has(page)).toSorted()).toEqual(ELSEWHERE);
});

describe('the pages of docs/clients', () => {
  // Inside the repository, so that the names of the packages resolve.
  const folder = mkdtempSync(join(root, 'e2e/.clients-'));
  let service: Served;
  beforeAll(async () => {
    service = await serve({ TALLY_DATA_DIR: temporaryFolder() });
  });
  afterAll(async () => {
    await service.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  const titled = (language: string) =>
    blocks('run').flatMap((block) => (block.language === language ? [[block.page, block] as const] : []));
  const atService = (code: string): string => code.replaceAll('http://127.0.0.1:8787', service.url);

  test.each(titled('js'))('%s, JavaScript', (_page, block) => {
    const file = join(folder, 'program.mjs');
    writeFileSync(file, atService(block.code));
    expectPrints([process.execPath, file], block, { cwd: folder });
  });

  // As the tests of the Python package, these need a Python.
  const python = setUpPython();
  test.skipIf(python === undefined).each(titled('python'))('%s, Python', (_page, block) => {
    const env = { ...process.env, TALLY_HOME: folder };
    expectPrints([python ?? '', '-W', 'error', '-c', atService(block.code)], block, { cwd: folder, env });
  });
});
