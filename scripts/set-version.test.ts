import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { VERSION } from '../packages/core/src/index.ts';
import { setVersion } from './set-version.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const FILES = [
  'CHANGELOG.md',
  'package.json',
  'package-lock.json',
  'packages/*/package.json',
  'packages/core/src/version.ts',
  'python/pyproject.toml',
  'python/src/tallystick/__init__.py',
  'deploy/helm/tallystick/Chart.yaml',
];

let copy: string;
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'tally-version-'));
  for (const file of globSync(FILES, { cwd: root })) cpSync(join(root, file), join(copy, file));
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

it('changes the version in every file, and nothing else', () => {
  setVersion(copy, '7.8.9', '2027-01-31');
  for (const file of globSync(FILES, { cwd: copy })) {
    const text = readFileSync(join(copy, file), 'utf8');
    expect(text, file).toContain('7.8.9');
    const before = text.replace('\n## [7.8.9] - 2027-01-31\n', '').replaceAll('7.8.9', VERSION);
    expect(before, file).toBe(readFileSync(join(root, file), 'utf8'));
  }
});

it('names what is unreleased after the version, with the day', () => {
  setVersion(copy, '7.8.9', '2027-01-31');
  expect(readFileSync(join(copy, 'CHANGELOG.md'), 'utf8')).toMatch(
    /\n## \[Unreleased\]\n\n## \[7\.8\.9\] - 2027-01-31\n\n### Added\n/,
  );
  expect(() => setVersion(copy, '7.8.10', '2027-01-31')).toThrow('nothing under Unreleased');
});

it.each(['', '1', '1.2', 'v1.2.3', '1.2.3+4', '01.2.3', '1.2.3 '])('refuses “%s”', (version) => {
  expect(() => setVersion(copy, version, '2027-01-31')).toThrow('is not a version');
});
