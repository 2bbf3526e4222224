import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { alone, type Times } from './alone.ts';
import { type Alone, type GatewayRound, type Gateways, gatewayReport } from './gateway-report.ts';
import { type Loaded, load } from './load.ts';
import {
  allCpuSeconds,
  cpuSeconds,
  LOAD_CORE,
  memory,
  moveToLoadCore,
  pinned,
  readyUrl,
  SERVE,
  stop,
} from './processes.ts';
import type { Report } from './report.ts';

const ROUNDS = 5;
const CONNECTIONS = 64;
const LOAD_SECONDS = 4;
const CALLS = 200;
/** The upstream, which answers at once. */
export const PEERS = 'bench/gateway-peers.ts';
const FLOOR = 'bench/gateway-floor.ts';
const WORK = 'bench/gateway-work.ts';
const PORTKEY = fileURLToPath(import.meta.resolve('@portkey-ai/gateway/build/start-server.js'));
const TALLY = fileURLToPath(new URL('../packages/cli/bin/tally.js', import.meta.url));
const PATH = '/v1/chat/completions';

/** Address and headers of the calls to a gateway. */
export interface Door {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Measures calls of models through the service, Portkey's gateway and a bare proxy, all in front of the same upstream. */
export async function gateway(): Promise<Report> {
  moveToLoadCore();
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const upstream = pinned([PEERS], {}, LOAD_CORE);
  const upstreamUrl = await readyUrl(upstream);
  const port = await freePort();
  const children = {
    bare: pinned([PEERS, upstreamUrl], {}),
    floor: pinned([FLOOR, upstreamUrl, join(dataDir, 'floor.db')], {}),
    work: pinned([WORK, upstreamUrl, join(dataDir, 'work.db'), join(dataDir, 'lists.db')], {}),
    tally: pinned(SERVE, {
      PORT: '0',
      TALLY_DATA_DIR: dataDir,
      TALLY_DEVNET: 'off',
      OPENAI_BASE_URL: `${upstreamUrl}/v1`,
      OPENAI_API_KEY: 'benchmark',
    }),
    portkey: pinned([PORTKEY, '--headless', `--port=${port}`], { NODE_ENV: 'production' }),
  };
  const all = [upstream, ...Object.values(children)];
  const own = (): number => [...all, process].map(cpuSeconds).reduce((a, b) => a + b);
  try {
    const json = { 'content-type': 'application/json' };
    const anyKey = { ...json, authorization: 'Bearer benchmark' };
    const doors: Gateways<Door> & { direct: Door } = {
      direct: { url: upstreamUrl, path: PATH, headers: anyKey },
      bare: { url: await readyUrl(children.bare), path: PATH, headers: anyKey },
      floor: { url: await readyUrl(children.floor), path: PATH, headers: anyKey },
      work: { url: await readyUrl(children.work), path: PATH, headers: anyKey },
      tally: {
        url: await readyUrl(children.tally),
        path: '/v1/compute/chat/completions',
        headers: { ...json, authorization: `Bearer ${prepaidKey(dataDir)}` },
      },
      portkey: {
        url: `http://127.0.0.1:${port}`,
        path: PATH,
        headers: { ...anyKey, 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamUrl}/v1` },
      },
    };
    await accepting(doors.portkey.url);
    await requireEverything(doors.tally);
    const rounds: GatewayRound[] = [];
    for (let number = 0; number <= ROUNDS; number++) {
      process.stderr.write(number === 0 ? 'warming up …\n' : `round ${number} of ${ROUNDS} …\n`);
      const began = { at: performance.now(), all: allCpuSeconds(), own: own() };
      const measured = await round(doors, (name) => cpuSeconds(children[name]));
      const seconds = (performance.now() - began.at) / 1000;
      const others = (allCpuSeconds() - began.all - (own() - began.own)) / seconds;
      if (number > 0) rounds.push({ ...measured, others });
    }
    const resident = {
      bare: memory(children.bare, 'VmRSS'),
      floor: memory(children.floor, 'VmRSS'),
      work: memory(children.work, 'VmRSS'),
      tally: memory(children.tally, 'VmRSS'),
      portkey: memory(children.portkey, 'VmRSS'),
    };
    tally(dataDir, 'ledger', 'check');
    return gatewayReport(rounds, resident, CONNECTIONS, CALLS);
  } finally {
    await stop(...all);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function round(
  { direct, ...gateways }: Gateways<Door> & { direct: Door },
  cpu: (name: keyof Gateways<Door>) => number,
): Promise<Omit<GatewayRound, 'others'>> {
  const loaded = async (name: keyof Gateways<Door>): Promise<Loaded & { microseconds: number }> => {
    const { url, path, headers } = gateways[name];
    const before = cpu(name);
    const requests = {
      method: 'POST',
      headers,
      connections: CONNECTIONS,
      target: { path, body: SHORT },
    } as const;
    const result = await load(url, requests, { duration: LOAD_SECONDS });
    return { ...result, microseconds: ((cpu(name) - before) / result.answered) * 1e6 };
  };
  const three = async (body: string): Promise<Alone> => ({
    direct: await alone({ ...direct, body }, CALLS),
    bare: await alone({ ...gateways.bare, body }, CALLS),
    tally: await alone({ ...gateways.tally, body }, CALLS),
  });
  const all = async (body: string): Promise<Alone & Record<'floor' | 'work' | 'portkey', Times>> => ({
    ...(await three(body)),
    floor: await alone({ ...gateways.floor, body }, CALLS),
    work: await alone({ ...gateways.work, body }, CALLS),
    portkey: await alone({ ...gateways.portkey, body }, CALLS),
  });
  return {
    load: {
      bare: await loaded('bare'),
      floor: await loaded('floor'),
      work: await loaded('work'),
      tally: await loaded('tally'),
      portkey: await loaded('portkey'),
    },
    short: await all(SHORT),
    long: await all(LONG),
    // Portkey's gateway answers 500 where the upstream streams.
    stream: await three(STREAM),
  };
}

const SENTENCE = 'Explain in plain words how a tally stick kept a debt honest when nobody could read. ';
/** The body of a short call. */
export const SHORT = call(200);
const LONG = call(40_000);
const STREAM = JSON.stringify({ ...(JSON.parse(SHORT) as object), stream: true });

/** A request with a prompt of that many bytes. The gateway chooses the model. */
function call(bytes: number): string {
  const content = SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes);
  return JSON.stringify({ model: 'auto', messages: [{ role: 'user', content }] });
}

/** Creates an API key with more money than a run can spend. */
export function prepaidKey(dataDir: string): string {
  const made = tally(dataDir, 'apikey', 'create', '--tier', 'pro', '--json');
  const { key, id } = JSON.parse(made) as { key: string; id: string };
  tally(dataDir, 'ledger', 'credit', id, '1000000');
  return key;
}

/** Runs a command of `tally` and returns its output. @throws if the command fails */
function tally(dataDir: string, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [TALLY, ...args], {
    env: { ...process.env, TALLY_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
}

/** Checks that a measured call was routed to the upstream, paid from the balance and has a receipt. */
export async function requireEverything({ url, path, headers }: Door): Promise<void> {
  const answer = await fetch(url + path, { method: 'POST', headers, body: SHORT });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  const { svc } = JSON.parse(text) as {
    svc: { receipt: { signatures: { svc: string } }; served: { provider: string }; billing: Billing };
  };
  const { account, charge } = svc.billing;
  if (svc.served.provider !== 'openai' || account !== 'api_key' || charge.nano === '0')
    throw new Error(`The call is not what is to be measured: ${text}`);
}

interface Billing {
  readonly account: string;
  readonly charge: { readonly nano: string };
}

/** A free port; Portkey's server does not report the port that it listens on. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

async function accepting(url: string): Promise<void> {
  const answers = (): Promise<boolean> =>
    fetch(url).then(
      () => true,
      () => false,
    );
  for (let tries = 0; tries < 100; tries++) {
    if (await answers()) return;
    await setTimeout(100);
  }
  throw new Error(`Nothing answers at ${url}.`);
}
