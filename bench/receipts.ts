import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load, type Target } from './load.ts';
import {
  type Ask,
  asker,
  LOAD_CORE,
  moveToLoadCore,
  pinned,
  readyUrl,
  SERVE,
  SERVER_CORE,
  stop,
} from './processes.ts';
import type { Report } from './report.ts';
import { row } from './row.ts';

const ROUNDS = 5;
const RAW_MS = 1000;
const LOAD_SECONDS = 4;
const BARE_SECONDS = 2;
const CONNECTIONS = 64;

/** Measures receipts over HTTP, beside the raw Ed25519 rates of the same core in the same run. */
export async function receipts(): Promise<Report> {
  moveToLoadCore();
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const server = pinned(SERVE, { PORT: '0', TALLY_DATA_DIR: dataDir });
  const limits = pinned(['bench/limits.ts'], {});
  try {
    const url = await readyUrl(server);
    return await measure(url, asker(limits));
  } finally {
    await stop(server, limits);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(url: string, ask: Ask): Promise<Report> {
  const receipt = await standardReceipt(url);
  const mint = {
    path: '/v1/receipt/free',
    body: JSON.stringify({ input: 'x'.repeat(200), purpose: 'benchmark' }),
  };
  const check = { path: '/v1/receipt/verify', body: receipt };
  await post(url, mint, 2);
  await post(url, check, 2);
  await ask({ measure: 'core', receipt, calls: 3000 });
  const bare = await ask<string>({ measure: 'http' });
  const bareLoad = (path: string): Promise<number> => post(bare, { path, body: receipt }, BARE_SECONDS);

  const rounds: Round[] = [];
  for (let number = 1; number <= ROUNDS; number++) {
    process.stderr.write(`round ${number} of ${ROUNDS} …\n`);
    rounds.push({
      sign: await ask<number>({ measure: 'sign', ms: RAW_MS }),
      bareSign: await bareLoad('/sign'),
      mint: await post(url, mint, LOAD_SECONDS),
      verify: await ask<number>({ measure: 'verify', ms: RAW_MS }),
      bareVerify: await bareLoad('/verify'),
      check: await post(url, check, LOAD_SECONDS),
    });
  }
  const core = await ask<{ p50: number; p95: number }>({ measure: 'core', receipt, calls: 5000 });
  return {
    title: 'Receipts',
    method:
      `${ROUNDS} rounds, interleaved; server and limits on core ${SERVER_CORE}, ${CONNECTIONS} connections from ` +
      `core ${LOAD_CORE}; medians, rounds in brackets. The bare server is node:http with one signature or one ` +
      'verification a request, nothing parsed and nothing stored.',
    rows: [
      row(rounds, 'raw Ed25519 sign, 1 KB', '/s', ({ sign }) => sign),
      row(rounds, 'bare HTTP server that signs', '/s', ({ bareSign }) => bareSign),
      row(rounds, 'durable free mint over HTTP', '/s', ({ mint }) => mint),
      row(rounds, 'mint / raw sign', '', ({ mint, sign }) => mint / sign, { at_least: 0.25 }),
      row(rounds, 'mint / bare server', '', ({ mint, bareSign }) => mint / bareSign),
      row(rounds, 'raw Ed25519 verify, 1 KB', '/s', ({ verify }) => verify),
      row(rounds, 'bare HTTP server that verifies', '/s', ({ bareVerify }) => bareVerify),
      row(
        rounds,
        `HTTP verify, standard receipt of ${Buffer.byteLength(receipt)} B`,
        '/s',
        ({ check }) => check,
      ),
      row(rounds, 'HTTP verify / raw verify', '', ({ check, verify }) => check / verify, { at_least: 0.45 }),
      row(rounds, 'HTTP verify / bare server', '', ({ check, bareVerify }) => check / bareVerify),
      { name: 'core verify, gate included, p50', value: core.p50, unit: 'ms' },
      { name: 'core verify, gate included, p95', value: core.p95, unit: 'ms', aim: { at_most: 0.4 } },
    ],
  };
}

/** Results of one round, in calls or answers a second. */
interface Round {
  readonly sign: number;
  readonly bareSign: number;
  readonly mint: number;
  readonly verify: number;
  readonly bareVerify: number;
  readonly check: number;
}

async function standardReceipt(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/receipt/emit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { order: 42, total: '19.90' }, purpose: 'benchmark' }),
  });
  return response.text();
}

/** Answered requests a second. */
async function post(url: string, target: Target, duration: number): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const requests = { method: 'POST', headers, connections: CONNECTIONS, target } as const;
  return (await load(url, requests, { duration })).rate;
}
