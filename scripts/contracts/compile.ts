import { readdirSync, readFileSync } from 'node:fs';
import solc from 'solc';

const folder = new URL('../../packages/server/contracts/', import.meta.url);

/** Names of the contracts, among all in the sources, that a development chain is given. */
const NAMES = [
  'TestBatchSettlement',
  'TestERC3009DepositCollector',
  'TestMulticall3',
  'TestPermit2',
  'TestPermit2DepositCollector',
  'TestUSDC',
  'TestX402ExactPermit2Proxy',
  'TestX402UptoPermit2Proxy',
] as const;

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Record<string, Record<string, Compiled>>;
}

interface Compiled {
  readonly evm: { readonly deployedBytecode: { readonly object: string } };
}

/**
 * Compiles the runtime code of the development chain's contracts, as the text of `contracts.json`: the same text each time, since
 * the compiler's version is pinned and no metadata is appended.
 * @throws Error with the compiler's messages, warnings included
 */
export function compileContracts(): string {
  const output = JSON.parse(String(solc.compile(JSON.stringify(input())))) as Output;
  const errors = output.errors ?? [];
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const compiled = new Map(Object.values(output.contracts ?? {}).flatMap((file) => Object.entries(file)));
  const code = NAMES.map((name) => [name, `0x${compiled.get(name)?.evm.deployedBytecode.object ?? ''}`]);
  const file = { compiler: String(solc.version()), runtimeCode: Object.fromEntries(code) };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function input(): object {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sol'));
  const sources = names.map((name) => [name, { content: readFileSync(new URL(name, folder), 'utf8') }]);
  return {
    language: 'Solidity',
    sources: Object.fromEntries(sources),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'cancun',
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  };
}
