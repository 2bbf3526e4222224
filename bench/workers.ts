import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PEERS, SHORT } from './gateway.ts';
import { load } from './load.ts';
import { allCpuSeconds, childrenOf, cpuSeconds, move, pinned, readyUrl, SERVE, stop } from './processes.ts';
import type { Report, Row } from './report.ts';
import { row } from './row.ts';

const ROUNDS = 5;
const LOAD_SECONDS = 4;
const CONNECTIONS = 64;
const BOTH = '0,1';

const WORKS = ['mint', 'verify', 'gateway'] as const;
type Work = (typeof WORKS)[number];

/** Workers, and the cores that they, the client and the upstream run on. */
const SETUPS = {
  'one worker on one core': { count: 1, cores: '0' },
  'one worker': { count: 1, cores: BOTH },
  'two workers': { count: 2, cores: BOTH },
} as const;
type Setup = keyof typeof SETUPS;
const setups = Object.keys(SETUPS) as Setup[];

interface Measured {
  readonly rate: number;
  readonly p99: number;
  /** CPU time of the service’s processes for each call. */
  readonly microseconds: number;
  /** CPU time of the client and the upstream, in cores. */
  readonly client: number;
  /** Cores that were used by anything else. */
  readonly others: number;
}

type Round = Readonly<Record<`${Work}, ${Setup}`, Measured>>;

/**
 * Measures two workers on two cores beside one on two and one on one, each time with the client and the upstream on the same cores. One worker on
 * two cores leaves one to the client, which two workers share with it; on one core it shares that one.
 */
export async function workers(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const upstream = pinned([PEERS], {}, BOTH);
  const upstreamUrl = await readyUrl(upstream);
  const services = [1, 2].map((count) => ({
    count,
    child: pinned(
      SERVE,
      {
        PORT: '0',
        TALLY_DATA_DIR: join(folder, `${count}`),
        TALLY_DEVNET: 'off',
        TALLY_WORKERS: `${count}`,
        OPENAI_BASE_URL: `${upstreamUrl}/v1`,
        OPENAI_API_KEY: 'benchmark',
      },
      BOTH,
    ),
  }));
  try {
    const open = new Map<number, { readonly pid: number | undefined; readonly url: string }>();
    for (const { count, child } of services) open.set(count, { pid: child.pid, url: await readyUrl(child) });
    const rounds: Round[] = [];
    for (let number = 0; number <= ROUNDS; number++) {
      process.stderr.write(number === 0 ? 'warming up …\n' : `round ${number} of ${ROUNDS} …\n`);
      const round: [string, Measured][] = [];
      for (const work of WORKS) {
        for (const setup of setups) {
          const { count, cores } = SETUPS[setup];
          const { pid, url } = open.get(count) ?? { pid: undefined, url: '' };
          const processes = [pid, ...childrenOf(pid)];
          move(cores, ...processes, upstream.pid, process.pid);
          const cpu = (): number => processes.map((one) => cpuSeconds({ pid: one })).reduce(sum, 0);
          const client = (): number => cpuSeconds(process) + cpuSeconds(upstream);
          round.push([`${work}, ${setup}`, await measure(url, work, cpu, client)]);
        }
      }
      if (number > 0) rounds.push(Object.fromEntries(round) as Round);
    }
    return {
      title: 'Workers: two processes beside one',
      method:
        `${ROUNDS} rounds after one that is thrown away, interleaved; service, upstream and client on the same cores, which are ${BOTH} unless ` +
        `one is named; SQLite, ${CONNECTIONS} connections; medians, rounds in brackets.`,
      rows: WORKS.flatMap((work) => rowsOf(rounds, work)),
    };
  } finally {
    await stop(upstream, ...services.map(({ child }) => child));
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(rounds: readonly Round[], work: Work): Row[] {
  const of = (setup: Setup, what: keyof Measured) => (round: Round) => round[`${work}, ${setup}`][what];
  const each = setups.flatMap((setup) => {
    const name = `${work}, ${setup}`;
    return [
      row(rounds, name, '/s', of(setup, 'rate')),
      row(rounds, `${name}, p99`, 'ms', of(setup, 'p99')),
      row(rounds, `${name}, CPU a call`, 'µs', of(setup, 'microseconds')),
      row(rounds, `${name}, cores of the client`, '', of(setup, 'client')),
      row(rounds, `${name}, cores of others`, '', of(setup, 'others')),
    ];
  });
  const ratio = (setup: Setup): Row =>
    row(
      rounds,
      `${work}, two workers / ${setup}`,
      '',
      (round) => of('two workers', 'rate')(round) / of(setup, 'rate')(round),
    );
  return [...each, ratio('one worker'), ratio('one worker on one core')];
}

async function measure(url: string, work: Work, cpu: () => number, client: () => number): Promise<Measured> {
  const requests = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    connections: CONNECTIONS,
    target: await targetOf(url, work),
  } as const;
  const before = { at: performance.now(), cpu: cpu(), client: client(), all: allCpuSeconds() };
  const { rate, answered, p99 } = await load(url, requests, { duration: LOAD_SECONDS });
  const seconds = (performance.now() - before.at) / 1_000;
  const used = { cpu: cpu() - before.cpu, client: client() - before.client };
  return {
    rate,
    p99,
    microseconds: (used.cpu / answered) * 1e6,
    client: used.client / seconds,
    others: (allCpuSeconds() - before.all - used.cpu - used.client) / seconds,
  };
}

async function targetOf(url: string, work: Work): Promise<{ path: string; body: string }> {
  if (work === 'gateway') return { path: '/v1/compute/chat/completions', body: SHORT };
  const mint = {
    path: '/v1/receipt/free',
    body: JSON.stringify({ input: 'x'.repeat(200), purpose: 'benchmark' }),
  };
  if (work === 'mint') return mint;
  const response = await fetch(`${url}/v1/receipt/emit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { order: 42, total: '19.90' }, purpose: 'benchmark' }),
  });
  return { path: '/v1/receipt/verify', body: await response.text() };
}

const sum = (a: number, b: number): number => a + b;
