import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { must } from './install.ts';

const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/**
 * Compiles one of the programs in this folder as a user would, in the folder where the packages are installed, to JavaScript
 * beside it. Returns what the compiler said: nothing.
 * @param lib beside ES2022, such as `dom`
 * @throws Error with the compiler's errors, those of the packages' declarations included
 */
export function compileProgram(folder: string, name: string, ...lib: readonly string[]): string {
  cpSync(new URL(`${name}.ts`, import.meta.url), join(folder, `${name}.ts`));
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', ...lib],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [`${name}.ts`] }));
  return must(process.execPath, [TSC, '-p', folder], folder);
}

/** Programs of this folder whose `main` says what works. */
export type Program = 'receipts-program' | 'prompts-program';

/** Runs a compiled program by a command, such as `['bun']`, in the folder where it was compiled. */
export function expectRuns(
  folder: string,
  program: Program,
  [command = '', ...args]: readonly string[],
): void {
  const run = `import { main } from './${program}.js';\nconsole.log(JSON.stringify(await main()));\n`;
  writeFileSync(join(folder, 'run.js'), run);
  expectAllTrue(JSON.parse(must(command, [...args, 'run.js'], folder)));
}

export function expectAllTrue(results: Readonly<Record<string, boolean>>): void {
  expect(Object.keys(results).length).toBeGreaterThan(1);
  expect(Object.entries(results).filter(([, works]) => !works)).toEqual([]);
}
