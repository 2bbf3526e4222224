import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faultsOf, PACKAGES, SERVER, sources } from './boundaries.ts';

const faults = (files: Record<string, string>) => faultsOf(new Map(Object.entries(files)));

it('the packages, and the folders of the server, import one way and in no circle', () => {
  expect(faultsOf(sources())).toEqual([]);
});

it.each([
  [
    'a domain that imports the service',
    { 'packages/log/src/a.ts': "import { x } from '@tallystick/server';" },
  ],
  ['a type alone', { 'packages/log/src/a.ts': "import type { X } from '@tallystick/payments';" }],
  ['a lazy import', { 'packages/kit/src/a.ts': "const { x } = await import('@tallystick/log');" }],
  ['a path into another package', { 'packages/log/src/a.ts': "import { x } from '../../kit/src/x.ts';" }],
  [
    'transport that knows a route',
    { 'packages/server/src/http/a.ts': "import { x } from '../routes/x.ts';" },
  ],
  ['a folder without a place', { 'packages/server/src/misc/a.ts': "import { x } from '../http/x.ts';" }],
])('names %s', (_, files) => {
  expect(faults(files)).toHaveLength(1);
});

it('names a circle, of types too', () => {
  const circle = {
    'packages/kit/src/a.ts': "import type { B } from './b.ts';",
    'packages/kit/src/b.ts': "export { a } from './a.ts';",
  };
  expect(faults(circle)).toEqual(['circle: packages/kit/src/a.ts -> packages/kit/src/b.ts']);
});

describe('docs/architecture.md', () => {
  const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
  const [packages, server] = [...page.matchAll(/```mermaid\n([\s\S]*?)```/g)].map(([, text = '']) =>
    arrowsOf(text),
  );

  it('draws the packages, without the arrows that follow from others', () => {
    expect(packages).toEqual(
      Object.entries(PACKAGES)
        .flatMap(([from, allowed]) =>
          allowed
            .filter((to) => !allowed.some((other) => reachOf(other).has(to)))
            .map((to) => `${from} --> ${to}`),
        )
        .sort(),
    );
  });

  it('lists each package with all that it may import', () => {
    const rows = [...page.matchAll(/^\| `([\w-]+)` +\|[^|]+\| ([\w, –]+?) +\|$/gm)];
    const listed = rows.map(([, name, allowed = '']) => [name, allowed === '–' ? [] : allowed.split(', ')]);
    expect(listed).toEqual(Object.entries(PACKAGES));
  });

  it('draws the folders of the server in their order', () => {
    const next = SERVER.slice(1).map((name, index) => `${name} --> ${SERVER[index]}`);
    expect(server).toEqual(next.sort());
  });
});

/** The arrows of a Mermaid flowchart, sorted: `a --> b & c` and `a --> b --> c` are two each. */
function arrowsOf(flowchart: string): string[] {
  const steps = flowchart.split('\n').map((line) =>
    line
      .trim()
      .split(' --> ')
      .map((names) => names.split(' & ')),
  );
  return steps
    .flatMap((groups) =>
      groups
        .slice(1)
        .flatMap((to, index) =>
          (groups[index] ?? []).flatMap((from) => to.map((name) => `${from} --> ${name}`)),
        ),
    )
    .sort();
}

/** Every package that leads from one along the arrows. */
function reachOf(name: string): Set<string> {
  return new Set((PACKAGES[name] ?? []).flatMap((next) => [next, ...reachOf(next)]));
}
