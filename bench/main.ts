import { parseArgs } from 'node:util';
import { anchor } from './anchor.ts';
import { compression } from './compress.ts';
import { compressionQuality } from './compression-quality.ts';
import { embedding } from './embedding.ts';
import { evidence } from './evidence.ts';
import { gateway } from './gateway.ts';
import { hooks } from './hooks.ts';
import { machine } from './machine.ts';
import { mcpWrap } from './mcp-wrap.ts';
import { metering } from './metering.ts';
import { otlp } from './otlp.ts';
import { receipts } from './receipts.ts';
import type { Report, Row } from './report.ts';
import { routing } from './routing.ts';
import { signing } from './signing.ts';
import { verifyPriority } from './verify-priority.ts';

/** Amounts to measure, if a suite lets the caller choose. */
interface Amounts {
  readonly receipts?: number;
}

const suites: Readonly<Record<string, (amounts: Amounts) => Promise<Report>>> = {
  anchor,
  compress: compression,
  'compression-quality': compressionQuality,
  embedding,
  evidence,
  gateway,
  hooks,
  'mcp-wrap': mcpWrap,
  metering,
  otlp,
  receipts,
  routing,
  signing,
  'verify-priority': verifyPriority,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    receipts: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [name] = positionals;
const suite = name === undefined ? undefined : suites[name];

if (suite === undefined || values.help) {
  process.stderr.write(
    `Usage: npm run bench -- <suite> [--json]\n       npm run bench -- evidence [--receipts <n>] [--json]\nSuites: ${Object.keys(suites).join(', ')}\n`,
  );
  process.exit(values.help ? 0 : 2);
}

const report = await suite(values.receipts === undefined ? {} : { receipts: Number(values.receipts) });
const result = { suite: name, machine: machine(), ...report };
if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
else print(result);

function print({ title, method, rows, machine: place }: typeof result): void {
  const width = Math.max(...rows.map((row) => row.name.length));
  const lines = rows.map((row) => {
    const spread = row.rounds === undefined ? '' : `  [${row.rounds.map(short).join(' ')}]`;
    return `  ${row.name.padEnd(width)}  ${short(row.value).padStart(9)} ${row.unit}${aimText(row)}${spread}`;
  });
  process.stdout.write(`${title}\n${place}\n${method}\n\n${lines.join('\n')}\n`);
}

function aimText({ value, aim }: Row): string {
  if (aim === undefined) return '';
  const [met, text] =
    'at_least' in aim
      ? [value >= aim.at_least, `at least ${aim.at_least}`]
      : [value <= aim.at_most, `at most ${aim.at_most}`];
  return `  (${text}: ${met ? 'met' : 'MISSED'})`;
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
