import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileContracts } from '../../../scripts/contracts/compile.ts';

it('the compiled contracts are what the sources compile to', () => {
  const path = new URL('../../chain/src/token/contracts.json', import.meta.url);
  expect(readFileSync(path, 'utf8') === compileContracts(), 'run: node scripts/build-contracts.ts').toBe(
    true,
  );
});
