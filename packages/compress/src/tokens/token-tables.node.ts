import type { EncodingName } from './encoding.ts';
import { parseTiktoken } from './tiktoken.ts';
import type { TokenTable } from './vocabulary.ts';

/** What is used of Node; this package is compiled without its types, for it runs in browsers too. */
interface Node {
  getBuiltinModule(name: 'node:fs'): { readFileSync(path: string): Uint8Array };
  getBuiltinModule(name: 'node:module'): {
    createRequire(from: string): { resolve(specifier: string): string };
  };
}

const node = (globalThis as unknown as { process: Node }).process;

/**
 * The tokens of an encoding, from the file beside the modules of `gpt-tokenizer`. A module with as many texts takes ten times the
 * memory, and several times as long to read.
 */
export function tokenTable(name: EncodingName): TokenTable {
  const modules = node.getBuiltinModule('node:module').createRequire(import.meta.url);
  const path = modules.resolve(`gpt-tokenizer/data/${name}.tiktoken`);
  return parseTiktoken(node.getBuiltinModule('node:fs').readFileSync(path));
}
