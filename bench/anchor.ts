import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BATCH,
  CONNECTIONS,
  LARGEST,
  LEAVES,
  type Percentiles,
  ROUNDS,
  type Round,
  report,
  SHARED,
  type WithCpu,
} from './anchor-report.ts';
import { AnchorService } from './anchor-service.ts';
import { coverTimes } from './freshness.ts';
import { type Loaded, load, type Requests } from './load.ts';
import {
  type Ask,
  allCpuSeconds,
  asker,
  cpuSeconds,
  moveToLoadCore,
  pinned,
  readyUrl,
  SERVE,
  stop,
} from './processes.ts';
import type { Report } from './report.ts';

const LIMIT_MS = 1500;
const LOAD_SECONDS = 4;

/** Measures the anchor log over HTTP and its parts, beside raw SQLite, raw SHA-256 and a bare server on the same core. */
export async function anchor(): Promise<Report> {
  moveToLoadCore();
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const server = pinned(SERVE, { PORT: '0', TALLY_DATA_DIR: dataDir });
  const limits = pinned(['bench/limits.ts'], {});
  const own = (): number => [server, limits, process].map(cpuSeconds).reduce((a, b) => a + b);
  try {
    const service = new AnchorService(await readyUrl(server), dataDir);
    return await measure({ service, ask: asker(limits), dataDir, serverCpu: () => cpuSeconds(server), own });
  } finally {
    await stop(server, limits);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Place {
  readonly service: AnchorService;
  readonly ask: Ask;
  readonly dataDir: string;
  /** CPU time in seconds that the server has used; `own` counts all processes of the benchmark. */
  readonly serverCpu: () => number;
  readonly own: () => number;
}

async function measure(place: Place): Promise<Report> {
  const { service, ask, dataDir } = place;
  process.stderr.write(`the first ${LEAVES} leaves …\n`);
  const filling = await service.fill(LEAVES);
  await ask({ measure: 'open appends', folder: dataDir, leaves: LEAVES });
  await service.anchored(LEAVES);
  let index = -256;
  const cold = await reads(place, () => (index += 256), 'text/plain', { amount: LEAVES / 256 });
  const bare = await ask<string>({ measure: 'http' });
  process.stderr.write('warming up …\n');
  await round(place, bare);
  const rounds: Round[] = [];
  for (let number = 1; number <= ROUNDS; number++) {
    process.stderr.write(`round ${number} of ${ROUNDS} …\n`);
    rounds.push(await round(place, bare));
  }
  return report(rounds, LEAVES / filling, cold);
}

async function round(place: Place, bare: string): Promise<Round> {
  const { service, ask, dataDir, own } = place;
  const began = { at: performance.now(), all: allCpuSeconds(), own: own() };
  const duration = LOAD_SECONDS;
  const random = (): number => Math.floor(Math.random() * LEAVES);
  const measured = {
    rawSingle: await ask<number>({ measure: 'append', rows: SHARED, ms: LIMIT_MS }),
    bare: await load(
      bare,
      { ...singles(place), target: { ...service.single(), path: '/json' } },
      { duration },
    ),
    single: await withCpu(place, () => load(service.url, singles(place), { duration })),
    rawBatch: await ask<number>({ measure: 'append', rows: BATCH.hashes, ms: LIMIT_MS }),
    batch: await batches(place, BATCH),
    largest: await batches(place, LARGEST),
    hashes: await ask<number>({ measure: 'hashes', leaves: LEAVES }),
    tree: await ask<number>({ measure: 'tree', leaves: LEAVES }),
    proofs: await ask<number>({
      measure: 'proofs',
      file: join(dataDir, 'tally.db'),
      leaves: LEAVES,
      ms: LIMIT_MS,
    }),
    proofText: await reads(place, random, 'text/plain', { duration }),
    anchored: await reads(place, random, 'application/json', { duration }),
    light: percentiles(await coverTimes(service.url, () => service.submit(), duration)),
    heavy: percentiles(await coveredUnderLoad(place)),
  };
  const cores = (performance.now() - began.at) / 1000;
  return { ...measured, others: (allCpuSeconds() - began.all - (own() - began.own)) / cores };
}

function singles({ service: { headers, single } }: Place): Requests {
  return { method: 'POST', headers, connections: CONNECTIONS, target: single };
}

/** Measures the hashes that are accepted per second in batches. */
async function batches({ service }: Place, { hashes, connections }: typeof BATCH): Promise<Loaded> {
  const target = (): ReturnType<AnchorService['batch']> => service.batch(hashes);
  const requests: Requests = { method: 'POST', headers: service.headers, connections, target };
  const loaded = await load(service.url, requests, { duration: LOAD_SECONDS });
  return { ...loaded, rate: loaded.rate * hashes };
}

function reads(
  place: Place,
  index: () => number,
  accept: string,
  extent: Parameters<typeof load>[2],
): Promise<WithCpu> {
  const { service } = place;
  const target = (): ReturnType<AnchorService['lookUp']> => service.lookUp(index());
  const requests: Requests = { method: 'GET', headers: { accept }, connections: CONNECTIONS, target };
  return withCpu(place, () => load(service.url, requests, extent));
}

async function withCpu({ serverCpu }: Place, run: () => Promise<Loaded>): Promise<WithCpu> {
  const before = serverCpu();
  const loaded = await run();
  return { ...loaded, microseconds: ((serverCpu() - before) * 1e6) / loaded.answered };
}

async function coveredUnderLoad(place: Place): Promise<number[]> {
  const { service } = place;
  const [times] = await Promise.all([
    coverTimes(service.url, () => service.submit(), LOAD_SECONDS),
    load(service.url, singles(place), { duration: LOAD_SECONDS + 1 }),
  ]);
  return times;
}

/** Percentiles of sorted values. */
function percentiles(values: readonly number[]): Percentiles {
  const at = (share: number): number => values[Math.floor(values.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
