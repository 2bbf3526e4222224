import { writeFileSync } from 'node:fs';
import { compileContracts } from './contracts/compile.ts';

/** File that development chains get their contracts from, compiled from packages/server/contracts. */
const target = new URL('../packages/chain/src/token/contracts.json', import.meta.url);
writeFileSync(target, compileContracts());
console.log('Wrote packages/chain/src/token/contracts.json.');
