/**
 * Prints the rows of the part of the corpus that may be read while working on the engine, and with `--lost` what is lost:
 * `node bench/material/development.ts [--lost]`
 */
import { measurePart } from './measure.ts';
import { partTable } from './print.ts';

const { rows, worst } = measurePart('development');
for (const line of partTable('development', rows)) process.stdout.write(`${line}\n`);
if (process.argv.includes('--lost'))
  for (const one of worst) process.stdout.write(`${JSON.stringify(one, null, 1)}\n`);
