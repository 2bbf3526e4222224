import { accessSync, constants, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { anvilPath } from './anvil.ts';

it('finds the binary that a clone installs', () => {
  expect(() => accessSync(anvilPath(), constants.X_OK)).not.toThrow();
});

it('says which command needs it, and how to install the version that a clone has', () => {
  const root = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const install = `npm install @foundry-rs/anvil@${root.devDependencies['@foundry-rs/anvil']},`;
  const missing = (): string => anvilPath('file:///nowhere/module.js');
  expect(missing).toThrow(expect.objectContaining({ code: 'chain_unavailable' }) as Error);
  expect(missing).toThrow(install);
  expect(missing).toThrow('tally serve');
});
