import { writeFileSync } from 'node:fs';
import { compileContracts } from './contracts/compile.ts';

/** Compiles packages/server/contracts into the file that a development chain gets its contracts from. */
const target = new URL('../packages/chain/src/token/contracts.json', import.meta.url);
writeFileSync(target, compileContracts());
console.log('Wrote packages/chain/src/token/contracts.json.');
