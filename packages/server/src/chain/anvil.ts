import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { TallyError } from '@tallystick/core';

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Where the npm package `@foundry-rs/anvil` has put its binary for this machine.
 * @throws chain_unavailable when there is none
 */
export function anvilPath(): string {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const binary = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    const home = dirname(createRequire(wrapper).resolve(`${binary}/package.json`));
    return join(home, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch (cause) {
    throw new TallyError(
      'chain_unavailable',
      `The development chain needs ${binary}, which is not installed. Name another chain with TALLY_CHAIN_RPC_URL.`,
      { cause },
    );
  }
}
