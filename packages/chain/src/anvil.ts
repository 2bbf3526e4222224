import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { TallyError } from '@tallystick/core';

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The npm package of Anvil. The server does not depend on it: only a development chain needs it. */
const ANVIL = '@foundry-rs/anvil';
const VERSION = '1.7.1';

/** The command that installs it. */
export const INSTALL_ANVIL = `npm install ${ANVIL}@${VERSION}`;

/** Returns whether a development chain can be started here. */
export function isAnvilInstalled(): boolean {
  try {
    anvilPath();
    return true;
  } catch {
    return false;
  }
}

/**
 * Where Anvil's npm package has put its binary for this machine.
 * @param from the module, as a URL, that looks for the package
 * @throws chain_unavailable when there is none
 */
export function anvilPath(from = import.meta.url): string {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  try {
    const wrapper = createRequire(from).resolve(`${ANVIL}/package.json`);
    const binary = `${ANVIL}-${process.platform}-${architecture}/package.json`;
    const home = dirname(createRequire(wrapper).resolve(binary));
    return join(home, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch (cause) {
    throw new TallyError(
      'chain_unavailable',
      `The development chain of \`tally serve\` needs Anvil, which is not installed: ${INSTALL_ANVIL}, beside tallystick. Or do without a chain (TALLY_DEVNET=off), or name one in TALLY_CHAIN_RPC_URL.`,
      { cause },
    );
  }
}
