import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compilePackages, must } from './install.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tally-release-test-'));
const to = join(folder, 'release');
const read = (file: string): string => readFileSync(join(to, file), 'utf8');
let said: string;

beforeAll(() => {
  compilePackages();
  said = must(process.execPath, ['scripts/release.ts', '--dry-run', '--skip-tests', '--to', to], root);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a dry run says what it left out, and what would be published', () => {
  expect(said).toContain('Tests: skipped (--skip-tests).\n');
  for (const name of readdirSync(join(root, 'packages'))) {
    expect(said).toMatch(new RegExp(`npm publish --provenance npm/tallystick-${name}-\\d`));
  }
});

test('it leaves checksums that hold, of every package', () => {
  must('sha256sum', ['--check', '--strict', 'SHA256SUMS'], to);
  const files = read('SHA256SUMS')
    .trim()
    .split('\n')
    .map((line) => line.slice(66));
  expect(files).toHaveLength(readdirSync(join(root, 'packages')).length + 3);
});

test('it leaves a bill of materials of what runs, and of nothing else', () => {
  const bom = JSON.parse(read('sbom.cdx.json'));
  expect(bom).toMatchObject({
    bomFormat: 'CycloneDX',
    serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
  });
  const names = bom.components.map((one: { 'bom-ref': string }) => one['bom-ref'].replace(/@[^@]+$/, ''));
  expect(names).toEqual(
    expect.arrayContaining(['@tallystick/server', '@tallystick/langchain', '@noble/curves', 'hono', 'pg']),
  );
  expect(names.filter((name: string) => /vitest|typescript|anvil/.test(name))).toEqual([]);
});

test('it leaves notes, and an anchored receipt of every file', () => {
  expect(read('notes.md')).toMatch(/^### /);
  const files = read('SHA256SUMS')
    .trim()
    .split('\n')
    .map((line) => basename(line.slice(66)));
  const wanted = files.flatMap((file) => [`${file}.receipt.json`, `${file}.anchor.json`]);
  expect(readdirSync(join(to, 'receipts')).sort()).toEqual([...wanted, 'trust.json'].sort());
});

test('without --dry-run nothing is published', () => {
  expect(() => must(process.execPath, ['scripts/release.ts'], root)).toThrow(
    'Give --dry-run to make one here.',
  );
});
