import { expect, it } from 'vitest';
import { faultsOf, sources } from './boundaries.ts';

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
