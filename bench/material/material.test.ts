import { readFileSync } from 'node:fs';
import { tokenizerFor } from '@tallystick/compress';
import { expect, test } from 'vitest';
import { materialOf } from '../quality/baselines.ts';
import { bestLines } from '../quality/best-lines.ts';
import { fetched } from '../quality/document.ts';
import { type DocumentPrint, printOf } from '../quality/print-of.ts';
import type { Results } from '../quality/results.ts';
import { committedDigest, filesOf, type MaterialFile, partDigest } from './files.ts';
import { headingAt, headingsOf } from './headings.ts';
import { measureFile } from './measure.ts';
import { documentOf } from './questions.ts';

const shipped = JSON.parse(
  readFileSync(new URL('../../packages/inference/src/benchmark/results.json', import.meta.url), 'utf8'),
) as Results;
const parts = { 'held-out': filesOf('held-out'), development: filesOf('development') };
const all = Object.values(parts).flat();

test('the held-out part is the one that was committed before the work, and the one that the results are of', () => {
  expect(partDigest('held-out')).toBe(committedDigest());
  const { held_out: heldOut, development } = shipped.nodes.modality.material;
  expect(heldOut.sha256).toBe(committedDigest());
  expect(development.sha256).toBe(partDigest('development'));
});

test('the material has many kinds and sources, and no package in both parts', () => {
  expect(new Set(all.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(15);
  expect(new Set(all.map(({ source }) => source)).size).toBeGreaterThanOrEqual(60);
  const heldOut = new Set(parts['held-out'].map(({ source }) => source));
  expect(parts.development.filter(({ source }) => heldOut.has(source))).toEqual([]);
  expect(shipped.files.map(({ id }: DocumentPrint) => id)).toEqual(all.map(({ path }) => path));
});

/** Files of some kinds that take a moment each. */
const quick = parts.development.filter(({ text }) => text.length < 6500);

test.each(quick.map((file) => [file.path, file] as const))(
  'the shipped results are what the package gives now for %s; otherwise run `npm run benchmark`',
  (path, file) => {
    expect(printOf(measureFile(file))).toEqual(shipped.files.find(({ id }: DocumentPrint) => id === path));
  },
);

const fileOf = (kind: string, text: string): MaterialFile => ({
  path: `development/${kind}/x`,
  part: 'development',
  kind,
  source: 'x',
  text,
});
const askedOf = (kind: string, text: string) =>
  documentOf(fileOf(kind, text)).cases.map(({ question, gold }) => [question, gold[0]?.text]);

test.each([
  ['YAML', 'a:\n  b: 1x\n  c:\n    d: 2x\ne: 3x\n', 'What is a.c.d set to?', 'd: 2x'],
  ['CSV', 'city,people\nBergen,289330\nHamar,33190\n', 'What is people where city is Hamar?', 'Hamar'],
  ['code', 'export function foldMap(a) {\n}\n', 'How is foldMap declared?', 'export function foldMap(a) {'],
  [
    'JSON API answers',
    '{"a":[{"id":"x-19","owner":"Ines"}]}',
    'What is the owner of the one whose id is x-19?',
    'x-19',
  ],
  ['changelogs', '# Log\n\n## 2.1.0 (2024-05-06)\n', 'When was 2.1.0 released?', '## 2.1.0 (2024-05-06)'],
  ['logs', 'start of node_a7\nend of all\n', 'What does it say about node_a7?', 'start of node_a7'],
])('a rule asks of %s', (kind, text, question, gold) => {
  expect(askedOf(kind, text)).toContainEqual([question, gold]);
});

test('a setting that stands twice is not asked for', () => {
  expect(askedOf('YAML', 'a:\n  on: true\nb:\n  on: true\n')).toEqual([]);
});

test('a place stands under the heading above it', () => {
  const text = '# One\n\nfirst\n\n# Two\n\nsecond\n';
  const headings = headingsOf('Markdown READMEs', text);
  expect(headingAt(headings, text.indexOf('first'))).toBe('# One');
  expect(headingAt(headings, text.indexOf('second'))).toBe('# Two');
  expect(headingAt(headings, 0)).toBeUndefined();
});

test('BM25 over lines keeps the line with the words that are asked for, in any script, and its room', () => {
  const lines = Array.from({ length: 60 }, (_, i) => `note ${i} speaks of the garden\n`);
  const text = [...lines, '高さは十二メートルです\n', 'the key hangs behind the clock\n', ...lines].join('');
  const material = materialOf(fetched('read', [text]), tokenizerFor());
  for (const [question, found] of [
    ['Where does the key hang, behind the clock?', 'key hangs'],
    ['高さは？', '十二メートル'],
  ] as const) {
    const kept = bestLines(material, 60, question);
    expect(kept.text).toContain(found);
    expect(kept.tokens).toBeLessThanOrEqual(60);
  }
});
