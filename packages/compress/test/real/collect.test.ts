import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { collect } from './collect.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-collect-'));
afterAll(() => rmSync(folder, { recursive: true }));

function given(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const found = (): { kind: string; value: unknown }[] =>
  [...collect([folder])].map(({ kind, text }) => ({ kind, value: JSON.parse(text) as unknown }));

it('finds objects and lists of Kubernetes, and pages of lists whose items have the same flat members', () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p1', uid: 'a'.repeat(200) } };
  given('go/k9s@v1/render/testdata/po.json', JSON.stringify(pod));
  given(
    'go/popeye@v1/lint/testdata/pod.yaml',
    `kind: List\nitems:\n- &pod ${JSON.stringify(pod)}\n- *pod\n---\nkind: Pod\n`,
  );
  const rows = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ id, name: `item ${id}`, note: null }));
  given('npm/vega-datasets/data/rows.json', JSON.stringify(rows(1_000)));
  given('npm/vega-datasets/data/nested.json', JSON.stringify(rows(100).map((row) => ({ row }))));
  given('npm/vega-datasets/data/uneven.json', JSON.stringify([...rows(99), { id: 99 }]));
  const pages = [0, 1, 2, 3, 4].map((page) => ({
    kind: 'uniform lists',
    value: rows(1_000).slice(page * 50, page * 50 + 50),
  }));
  expect(found()).toEqual([
    { kind: 'Kubernetes objects', value: pod },
    { kind: 'Kubernetes lists', value: { kind: 'List', items: [pod, pod] } },
    ...pages,
  ]);
});
