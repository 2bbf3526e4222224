import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { median } from './machine.ts';
import {
  asker,
  LOAD_CORE,
  memory,
  moveToLoadCore,
  pinned,
  readyUrl,
  SERVE,
  SERVER_CORE,
  stop,
} from './processes.ts';
import type { Report } from './report.ts';

const ROUNDS = 5;
const RAW_MS = 1000;
const LEAVES = 1_000_000;
const MOST_LEAVES = 10_000_000;
const CHUNK_BYTES = 65_536;

/** Measures metering receipts from streamed evidence, beside the SHA-256 rate of the same core in the same run. */
export async function metering(): Promise<Report> {
  moveToLoadCore();
  const limits = pinned(['bench/limits.ts'], {});
  const ask = asker(limits);
  const rates: number[] = [];
  const seconds: number[] = [];
  const growths: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      process.stderr.write(`round ${round + 1} of ${ROUNDS} …\n`);
      rates.push(await ask<number>({ measure: 'sha256', ms: RAW_MS }));
      const { took, growth } = await measured(LEAVES);
      seconds.push(took);
      growths.push(growth);
    }
  } finally {
    await stop(limits);
  }
  process.stderr.write('the largest bill …\n');
  const largest = await measured(MOST_LEAVES);
  const leafRates = seconds.map((took) => LEAVES / took);
  const shares = leafRates.map((rate, i) => rate / (rates[i] ?? Number.NaN));
  return {
    title: `Metering: a bill with ${LEAVES} leaves, streamed`,
    method: `${ROUNDS} rounds, each the first request to a fresh server, growth of its resident memory at most; server and raw rate on core ${SERVER_CORE}, the client on core ${LOAD_CORE}; medians, rounds in brackets.`,
    rows: [
      { name: 'raw SHA-256, one leaf and one node', value: median(rates), unit: '/s', rounds: rates },
      { name: 'leaves over HTTP', value: median(leafRates), unit: '/s', rounds: leafRates },
      { name: 'leaves / raw SHA-256', value: median(shares), unit: '', rounds: shares },
      { name: 'the bill', value: median(seconds), unit: 's', aim: { at_most: 10 }, rounds: seconds },
      {
        name: 'growth of the server',
        value: median(growths),
        unit: 'MB',
        aim: { at_most: 100 },
        rounds: growths,
      },
      {
        name: `a bill with ${MOST_LEAVES} leaves, once`,
        value: largest.took,
        unit: 's',
        aim: { at_most: 100 },
      },
      { name: 'growth of the server for it', value: largest.growth, unit: 'MB' },
    ],
  };
}

/** Seconds for the bill, and the most by which the server's resident memory grew, in MB. */
async function measured(leaves: number): Promise<{ took: number; growth: number }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const server = pinned(SERVE, { PORT: '0', TALLY_DATA_DIR: dataDir });
  try {
    const url = await readyUrl(server);
    const before = memory(server, 'VmRSS');
    const start = performance.now();
    await mint(url, leaves);
    const took = (performance.now() - start) / 1000;
    return { took, growth: memory(server, 'VmHWM') - before };
  } finally {
    await stop(server);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function mint(url: string, leaves: number): Promise<void> {
  const outgoing = request(`${url}/v1/receipt/metering`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
  });
  const answered = new Promise<string>((resolve, reject) => {
    outgoing.on('response', (response) => void text(response).then(resolve, reject)).on('error', reject);
  });
  await pipeline(Readable.from(bill(leaves)), outgoing);
  const answer = await answered;
  if (!answer.includes(`"evidence_backed_unit_count":${leaves},`)) throw new Error(`No receipt: ${answer}`);
}

function* bill(leaves: number): Generator<Buffer> {
  const hex = (digit: string): string => digit.repeat(64);
  const report = {
    machine_commitment: hex('1'),
    customer_commitment: hex('2'),
    salt_commitment: hex('3'),
    window_start: '2026-01-01T00:00:00Z',
    window_end: '2026-01-15T00:00:00Z',
    service_unit: 'pick',
    billed_unit_count: leaves,
    rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
  };
  let chunk = `${JSON.stringify(report)}\n`;
  for (let unit = 1; unit <= leaves; unit++) {
    const word = Math.imul(unit, 0x9e3779b1) >>> 0;
    chunk += `{"receipt_sha256":"${word.toString(16).padStart(8, '0').repeat(8)}","unit":${unit}}\n`;
    if (chunk.length < CHUNK_BYTES) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(chunk);
}
