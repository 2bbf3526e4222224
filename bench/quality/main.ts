import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { differences } from './differences.ts';
import { tableOf } from './print.ts';
import { withTables } from './readme.ts';
import { measure, type Results } from './results.ts';

const shipped = new URL('../../packages/inference/src/benchmark/results.json', import.meta.url);

const readme = new URL('../README.md', import.meta.url);

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(
    'Usage: npm run benchmark [-- --check]\n\nMeasures what compression keeps, prints it, and writes the results that the service signs.\n  --check  compares with the results that are there instead of writing, and fails where they differ\n',
  );
  process.exit(0);
}

const results = measure((done, of) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of} documents${done === of ? '\n' : ''}`);
});
for (const line of tableOf(results)) process.stdout.write(`${line}\n`);
const text = `${JSON.stringify(results, null, 1)}\n`;

if (values.check) check();
else {
  writeFileSync(shipped, text);
  writeFileSync(readme, withTables(readFileSync(readme, 'utf8'), results));
  process.stdout.write(`\nWritten to packages/inference/src/benchmark/results.json and bench/README.md\n`);
}

function check(): void {
  const there = existsSync(shipped) ? readFileSync(shipped, 'utf8') : '';
  if (there === text) {
    process.stdout.write('\nThe shipped results are these, to the byte.\n');
    return;
  }
  const before = there === '' ? {} : (JSON.parse(there) as Results);
  process.stdout.write('\nThe shipped results are others. Shipped, then measured:\n');
  for (const line of differences(before, results)) process.stdout.write(`  ${line}\n`);
  process.exitCode = 1;
}
