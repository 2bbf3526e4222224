import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { LOAD_CORE, moveToLoadCore, pinned, readyUrl, SERVE, SERVER_CORE, stop } from './processes.ts';
import type { Report } from './report.ts';
import { row } from './row.ts';

const ROUNDS = 5;
const CALLS = 1_500;
const WARM_UP = 300;
const KEYLESS = 64;
const PATH = '/v1/receipt/verify';

/** Measures how long a Pro key waits for a verdict while keyless callers saturate the service, and when nobody else calls. */
export async function verifyPriority(): Promise<Report> {
  moveToLoadCore();
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const server = pinned(SERVE, { PORT: '0', TALLY_DATA_DIR: dataDir });
  try {
    const url = await readyUrl(server);
    return await measure(url, newKey(dataDir));
  } finally {
    await stop(server);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function newKey(dataDir: string): string {
  const args = ['packages/cli/bin/tally.js', 'apikey', 'create', '--tier', 'pro', '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, TALLY_DATA_DIR: dataDir },
  });
  const key = /k_pro_\w{32}/.exec(stdout)?.[0];
  if (key === undefined) throw new Error(`No key was made: ${stderr}`);
  return key;
}

/** Results of one round: times in milliseconds, keyless answers a second. */
interface Round {
  readonly alone: number;
  readonly beside: number;
  readonly keylessBeside: number;
  readonly first: number;
}

async function measure(url: string, key: string): Promise<Report> {
  const emitted = await fetch(`${url}/v1/receipt/emit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { order: 42 }, purpose: 'benchmark' }),
  });
  const receipt = await emitted.text();
  await times(url, { key, receipt, calls: WARM_UP });
  const rounds: Round[] = [];
  for (let number = 1; number <= ROUNDS; number++) {
    process.stderr.write(`round ${number} of ${ROUNDS} …\n`);
    const alone = await times(url, { key, receipt, calls: CALLS });
    const ended = Promise.withResolvers<autocannon.Result>();
    const flooding = {
      url: url + PATH,
      connections: KEYLESS,
      duration: 3_600,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: receipt,
    } as const;
    const flood = autocannon(flooding, (error: unknown, result) => {
      if (error === null || error === undefined) ended.resolve(result);
      else ended.reject(new Error('The flood of callers failed.', { cause: error }));
    });
    await times(url, { key, receipt, calls: WARM_UP });
    const beside = await times(url, { key, receipt, calls: CALLS });
    const keyless = await times(url, { key: null, receipt, calls: 20 });
    flood.stop();
    const { requests, non2xx } = await ended.promise;
    if (non2xx > 0) throw new Error(`${non2xx} keyless answers were not 200.`);
    rounds.push({
      alone: p99(alone),
      beside: p99(beside),
      keylessBeside: p99(keyless),
      first: requests.average,
    });
  }
  return {
    title: 'Verification by a key of a tier',
    method:
      `${ROUNDS} rounds of ${CALLS} calls, one after the other on one connection, with a Pro key; beside them ${KEYLESS} ` +
      `connections without a key, each of which asks again as soon as it is answered. Server on core ${SERVER_CORE}, all ` +
      `callers on core ${LOAD_CORE}, in one process: what the callers cost each other is in the times. Medians of the ` +
      'rounds, rounds in brackets.',
    rows: [
      row(rounds, 'p99 of the key, alone', 'ms', ({ alone }) => alone),
      row(rounds, 'p99 of the key, service saturated', 'ms', ({ beside }) => beside),
      row(rounds, 'saturated / alone', '', ({ alone, beside }) => beside / alone, { at_most: 1.5 }),
      row(rounds, 'p99 of a caller without a key meanwhile', 'ms', ({ keylessBeside }) => keylessBeside),
      row(rounds, 'answers to callers without a key', '/s', ({ first }) => first),
    ],
  };
}

interface Calls {
  readonly key: string | null;
  readonly receipt: string;
  readonly calls: number;
}

/** Milliseconds from request to answer, for each call. */
async function times(url: string, { key, receipt, calls }: Calls): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = {
    'content-type': 'application/json',
    ...(key !== null && { authorization: `Bearer ${key}` }),
  };
  const once = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const since = performance.now();
      const outgoing = request(url + PATH, { method: 'POST', agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`Answered ${response.statusCode}.`));
        response.resume().once('end', () => resolve(performance.now() - since));
      });
      outgoing.once('error', reject).end(receipt);
    });
  const taken: number[] = [];
  for (let call = 0; call < calls; call++) taken.push(await once());
  agent.destroy();
  return taken;
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
}
