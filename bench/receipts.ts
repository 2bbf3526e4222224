import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { median } from './machine.ts';
import type { Report } from './main.ts';

const ROUNDS = 5;
const RAW_MS = 1000;
const LOAD_SECONDS = 4;
const CONNECTIONS = 64;
const SERVER_CORE = '0';
const LOAD_CORE = '1';

/** Receipts over HTTP, beside the raw Ed25519 rates of the same core in the same run. */
export async function receipts(): Promise<Report> {
  spawnSync('taskset', ['-cp', LOAD_CORE, String(process.pid)]);
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const server = pinned(['packages/cli/bin/tally.js', 'serve'], { PORT: '0', TALLY_DATA_DIR: dataDir });
  const limits = pinned(['bench/limits.ts'], {});
  try {
    const url = await readyUrl(lines(server));
    return await measure(url, asker(limits));
  } finally {
    server.kill('SIGTERM');
    limits.kill('SIGTERM');
    await Promise.all([ended(server), ended(limits)]);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type Ask = <T>(command: object) => Promise<T>;

async function measure(url: string, ask: Ask): Promise<Report> {
  const receipt = await standardReceipt(url);
  const mint = {
    path: '/v1/receipt/free',
    body: JSON.stringify({ input: 'x'.repeat(200), purpose: 'benchmark' }),
  };
  const check = { path: '/v1/receipt/verify', body: receipt };
  await load(url, mint, 2);
  await load(url, check, 2);
  await ask({ measure: 'core', receipt, calls: 3000 });

  const signs: number[] = [];
  const verifies: number[] = [];
  const mints: number[] = [];
  const checks: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    process.stderr.write(`round ${round + 1} of ${ROUNDS} …\n`);
    signs.push(await ask<number>({ measure: 'sign', ms: RAW_MS }));
    mints.push(await load(url, mint, LOAD_SECONDS));
    verifies.push(await ask<number>({ measure: 'verify', ms: RAW_MS }));
    checks.push(await load(url, check, LOAD_SECONDS));
  }
  const core = await ask<{ p50: number; p95: number }>({ measure: 'core', receipt, calls: 5000 });
  const ratios = (over: number[], under: number[]): number[] =>
    over.map((value, i) => value / (under[i] ?? Number.NaN));
  const mintRatios = ratios(mints, signs);
  const checkRatios = ratios(checks, verifies);
  return {
    title: 'Receipts',
    method: `${ROUNDS} rounds, interleaved; server and raw rates on core ${SERVER_CORE}, ${CONNECTIONS} connections from core ${LOAD_CORE}; medians, rounds in brackets.`,
    rows: [
      { name: 'raw Ed25519 sign, 1 KB', value: median(signs), unit: '/s', rounds: signs },
      { name: 'durable free mint over HTTP', value: median(mints), unit: '/s', rounds: mints },
      {
        name: 'mint / raw sign',
        value: median(mintRatios),
        unit: '',
        aim: { at_least: 0.25 },
        rounds: mintRatios,
      },
      { name: 'raw Ed25519 verify, 1 KB', value: median(verifies), unit: '/s', rounds: verifies },
      {
        name: `HTTP verify, standard receipt of ${Buffer.byteLength(receipt)} B`,
        value: median(checks),
        unit: '/s',
        rounds: checks,
      },
      {
        name: 'HTTP verify / raw verify',
        value: median(checkRatios),
        unit: '',
        aim: { at_least: 0.45 },
        rounds: checkRatios,
      },
      { name: 'core verify, gate included, p50', value: core.p50, unit: 'ms' },
      { name: 'core verify, gate included, p95', value: core.p95, unit: 'ms', aim: { at_most: 0.4 } },
    ],
  };
}

async function standardReceipt(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/receipt/emit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { order: 42, total: '19.90' }, purpose: 'benchmark' }),
  });
  return response.text();
}

/** Answered requests a second; anything but a 200 ends the run. */
async function load(
  url: string,
  { path, body }: { path: string; body: string },
  seconds: number,
): Promise<number> {
  const result = await autocannon({
    url: `${url}${path}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    connections: CONNECTIONS,
    duration: seconds,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${path}: ${result.non2xx} answers were not 200, ${result.errors} requests failed.`);
  }
  return result['2xx'] / result.duration;
}

const root = fileURLToPath(new URL('..', import.meta.url));

function pinned(args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn('taskset', ['-c', SERVER_CORE, process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

function lines(child: ChildProcess): Interface {
  if (child.stdout === null) throw new Error('The child has no output to read.');
  return createInterface({ input: child.stdout });
}

async function readyUrl(output: Interface): Promise<string> {
  for await (const line of output) {
    const url = /ready on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('The server ended before it was ready.');
}

function asker(child: ChildProcess): Ask {
  const answers = lines(child)[Symbol.asyncIterator]();
  return async <T>(command: object) => {
    child.stdin?.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error('The child that measures the limits ended.');
    return JSON.parse(value) as T;
  };
}

function ended(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));
}
