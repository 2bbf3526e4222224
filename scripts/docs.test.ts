import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGES } from './boundaries.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

const packages = readdirSync(join(root, 'packages'));
const readmes = packages.map((name) => `packages/${name}/README.md`);
const operating = readdirSync(join(root, 'docs/operating')).map((name) => `docs/operating/${name}`);
const clients = readdirSync(join(root, 'docs/clients')).map((name) => `docs/clients/${name}`);
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/architecture.md',
  'docs/fork-file.md',
  'docs/releasing.md',
  'docs/sdk.md',
  'docs/sessions.md',
  'docs/sessions-through-the-service.md',
  ...operating,
  ...clients,
  ...readmes,
];

it.each(pages)('%s links to what is there', (page) => {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  for (const [link, path = '', anchor] of links) {
    const target = path === '' ? page : join(dirname(page), path);
    expect(existsSync(join(root, target)), link).toBe(true);
    expect(anchor === undefined || anchorsOf(textOf(target)).includes(anchor), link).toBe(true);
  }
});

/** The anchors of a page's headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

it.each(['CONTRIBUTING.md', 'docs/architecture.md'])('%s names files that are there', (page) => {
  const named = [...textOf(page).matchAll(/`([\w.-]+\/[\w./<>-]*\.(?:tsx?|js|json|py|md))`/g)].map(
    ([, path = '']) => path.replace(/<\w+>/g, '*'),
  );
  expect(named.length).toBeGreaterThan(10);
  const found = (path: string): boolean => globSync([path, `packages/${path}`], { cwd: root }).length > 0;
  expect(named.filter((path) => !found(path))).toEqual([]);
});

it('CONTRIBUTING.md names commands that are there', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const named = [...textOf('CONTRIBUTING.md').matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

describe('the README of each package', () => {
  it.each(packages)('%s: says exactly what it may import', (name) => {
    if (name === 'sdk') return;
    const [, said = ''] =
      /^It may import ((?:.|\n(?!\n))*)/m.exec(textOf(`packages/${name}/README.md`)) ?? [];
    const allowed = PACKAGES[name] ?? [];
    const [sentence = ''] = said.split(/\. |\.$/);
    const listed = [...sentence.matchAll(/`([\w-]+)`/g)].map(([, other]) => other);
    const all = Object.keys(PACKAGES).filter((other) => other !== name && !listed.includes(other));
    const named = sentence.startsWith('every package but') ? all : listed;
    expect(new Set(named)).toEqual(new Set(allowed));
  });

  // Inside the repository, so that the names of the packages resolve; Node strips no types under node_modules.
  const folder = mkdtempSync(join(root, 'scripts', '.readme-'));
  const programs = readmes
    .filter((path) => path !== 'packages/sdk/README.md')
    .flatMap((path) =>
      [...textOf(path).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text = '']) => ({ path, text })),
    );
  const fileOf = (index: number): string => join(folder, `program-${index}.ts`);
  beforeAll(() => {
    for (const [index, { text }] of programs.entries()) writeFileSync(fileOf(index), text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has programs that compile', () => {
    const config = {
      extends: '../../tsconfig.base.json',
      compilerOptions: { lib: ['es2024', 'dom'], types: ['node'], composite: false, noEmit: true },
      include: ['*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    expect(execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })).toBe('');
  });

  const printing = programs.flatMap(({ path, text }, index) => {
    const printed = [...text.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, line]) => line);
    return printed.length === 0 ? [] : [{ path, index, printed: `${printed.join('\n')}\n` }];
  });
  it.each(printing)('$path prints what it says', ({ index, printed }) => {
    const env = { ...process.env, NO_COLOR: '1' };
    expect(execFileSync(process.execPath, [fileOf(index)], { cwd: folder, encoding: 'utf8', env })).toBe(
      printed,
    );
  });
});
