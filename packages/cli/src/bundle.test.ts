import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { BUNDLES, bundledMain, LAST, sourceAt } from './bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-bundle-'));
const project = `${folder}/`;
const bundles = join(folder, BUNDLES);
const main = join(bundles, '1', 'main.js');
const source = join(folder, 'a.ts');

afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  mkdirSync(join(bundles, '1'), { recursive: true });
  writeFileSync(main, '');
  writeFileSync(source, 'export {};');
  say({ folder: '1', sources: [sourceAt('a.ts', project)] });
});

test('this project’s sources are bundled before its tests', () => {
  expect(bundledMain()).toMatch(/\/packages\/cli\/built\/[\d-]+\/main\.js$/);
});

test('the bundle of the sources as they are is the program', () => {
  expect(bundledMain(project)).toBe(pathToFileURL(main).href);
});

describe('the sources are the program where', () => {
  test.each<[string, () => void]>([
    ['a source is longer', () => writeFileSync(source, 'export {};\n')],
    ['a source was written again', () => utimesSync(source, 1, 1)],
    ['a source is gone', () => rmSync(source)],
    ['the bundle is gone', () => rmSync(main)],
    ['nothing was bundled', () => rmSync(bundles, { recursive: true })],
    ['what the bundle was made of is not JSON', () => say('{')],
    ['what the bundle was made of is not said', () => say({ folder: '1' })],
  ])('%s', (_, happens) => {
    happens();
    expect(bundledMain(project)).toBeNull();
  });
});

function say(bundle: unknown): void {
  writeFileSync(join(bundles, LAST), JSON.stringify(bundle));
}
