import { parseArgs } from 'node:util';
import { MissingData } from '../scripts/public-data.ts';
import { anchor } from './anchor.ts';
import { compression } from './compress.ts';
import { compressionQuality } from './compression-quality.ts';
import { consolePages } from './console.ts';
import { embedding } from './embedding.ts';
import { evidence } from './evidence.ts';
import { gateway } from './gateway.ts';
import { growth } from './growth.ts';
import { hooks } from './hooks.ts';
import { lists } from './lists.ts';
import { machine } from './machine.ts';
import { mcpWrap } from './mcp-wrap.ts';
import { metering } from './metering.ts';
import { otlp } from './otlp.ts';
import { partitions } from './partitions.ts';
import { proofs } from './proofs.ts';
import { receipts } from './receipts.ts';
import type { Report, Row } from './report.ts';
import { routing } from './routing.ts';
import { scale } from './scale.ts';
import { signing } from './signing.ts';
import { strategies } from './strategies.ts';
import { verifyPriority } from './verify-priority.ts';
import { workers } from './workers.ts';

/** Amounts to measure, if a suite lets the caller choose. */
interface Amounts {
  readonly receipts?: number;
  readonly rows?: number;
  readonly sizes?: readonly number[];
  readonly store?: string;
  readonly pictures?: string;
  readonly picture?: string;
  readonly folder?: string;
  readonly page?: string;
}

const suites: Readonly<Record<string, (amounts: Amounts) => Promise<Report>>> = {
  anchor,
  compress: compression,
  'compression-quality': compressionQuality,
  console: consolePages,
  embedding,
  evidence,
  gateway,
  growth: ({ sizes, store, picture, folder }) => growth(sizes, store, picture, folder),
  hooks,
  lists: ({ rows, store }) => lists(rows, store),
  'mcp-wrap': mcpWrap,
  metering,
  otlp,
  partitions: ({ rows }) => partitions(rows),
  proofs,
  receipts,
  routing,
  scale: ({ receipts: count }) => scale(count),
  signing,
  strategies,
  'verify-priority': verifyPriority,
  workers,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    receipts: { type: 'string' },
    rows: { type: 'string' },
    sizes: { type: 'string' },
    store: { type: 'string' },
    pictures: { type: 'string' },
    picture: { type: 'string' },
    folder: { type: 'string' },
    page: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [name] = positionals;
const suite = name === undefined ? undefined : suites[name];

if (suite === undefined || values.help) {
  process.stderr.write(
    `Usage: npm run bench -- <suite> [--json]\n       npm run bench -- evidence [--receipts <n>] [--json]\n       npm run bench -- scale [--receipts <n>] [--json]\n       npm run bench -- lists [--rows <n>] [--store sqlite|postgres] [--json]\n       npm run bench -- partitions [--rows <n>] [--json]\n       npm run bench -- growth [--sizes 100000,1000000] [--store sqlite|postgres] [--picture <file.svg>] [--folder <of kept databases>] [--json]\n       npm run bench -- console [--rows <n>] [--page <name>] [--pictures <folder>] [--json]\nSuites: ${Object.keys(suites).join(', ')}\n`,
  );
  process.exit(values.help ? 0 : 2);
}

const amounts: Amounts = {
  ...(values.receipts !== undefined && { receipts: Number(values.receipts) }),
  ...(values.rows !== undefined && { rows: Number(values.rows) }),
  ...(values.sizes !== undefined && { sizes: values.sizes.split(',').map(Number) }),
  ...(values.store !== undefined && { store: values.store }),
  ...(values.pictures !== undefined && { pictures: values.pictures }),
  ...(values.picture !== undefined && { picture: values.picture }),
  ...(values.folder !== undefined && { folder: values.folder }),
  ...(values.page !== undefined && { page: values.page }),
};
const report = await suite(amounts).catch((error: unknown) => {
  if (!(error instanceof MissingData)) throw error;
  process.stderr.write(`${error.message}\n`);
  return process.exit(1);
});
const result = { suite: name, machine: machine(), ...report };
if (values.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
else print(result);
for (const reason of result.missing ?? [])
  process.stderr.write(`\nSome rows were not measured.\n${reason}\n`);
// Not `process.exitCode`: a module that some suites load sets that to 0 as the process ends.
if (result.missing?.length) process.exit(1);

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
