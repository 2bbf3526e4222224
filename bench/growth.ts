import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Filled, fillAll, type Target } from './growth/fill.ts';
import { OPERATIONS, type Operation, type Service } from './growth/operations.ts';
import { growthPlot, type Point } from './growth/plot.ts';
import { PURGED, timeOfPurge } from './growth/purge.ts';
import { type BenchDatabase, databaseIn, STORES } from './lists/databases.ts';
import { median } from './machine.ts';
import {
  allCpuSeconds,
  cpuSeconds,
  memory,
  moveToLoadCore,
  pinned,
  readyUrl,
  SERVE,
  stop,
} from './processes.ts';
import type { Report, Row } from './report.ts';

const SIZES = [100_000, 1_000_000];
const ROUNDS = 5;
/** The most that a time may be multiplied by with more receipts for its curve to count as flat. */
const FLAT = 1.3;

const PURGE = `${count(PURGED)} receipts purged`;

type Kind = (typeof STORES)[number];

interface Place extends Filled {
  readonly kind: Kind;
  readonly size: number;
  readonly folder: string;
  readonly database: BenchDatabase;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds of each time that an operation was done. */
  readonly times: Map<string, number[]>;
  /** Milliseconds from the start of the process until it was ready, of each round. */
  readonly starts: number[];
  /** Milliseconds in which receipts were purged after each round. */
  readonly purges: number[];
  /** Resident memory in MB after each round. */
  readonly memory: number[];
  /** Cores that all others than the service and this process used in each round. */
  readonly others: number[];
}

/**
 * Measures how the times of a service change with the rows that it has.
 * @param sizes numbers of receipts, each of which has its leaf in the log and its row in the list
 * @param picture file for the plot, SVG; none if it is absent
 * @param kept folder where the databases stay, and are found filled the next time; removed at the end if it is absent
 */
export async function growth(
  sizes: readonly number[] = SIZES,
  only?: string,
  picture?: string,
  kept?: string,
): Promise<Report> {
  moveToLoadCore();
  const measured: Place[] = [];
  for (const kind of STORES.filter((one) => only === undefined || one === only))
    measured.push(...(await measure(kind, sizes, kept)));
  if (picture !== undefined) writeFileSync(picture, growthPlot(measured.map(pointOf)));
  return {
    title: 'Growth',
    method:
      `${sizes.map(count).join(', ')} receipts of one account, each with its row in the list and a leaf in the log, in databases of their own. ` +
      `${ROUNDS} rounds after one that is thrown away; in each, the service is started on one database after the other, on core 0, and asked from core 1, one request after the other. ` +
      'PostgreSQL 18 with its default settings but max_wal_size = 4GB, on either core.',
    rows: STORES.flatMap((kind) => report(measured.filter((one) => one.kind === kind))),
  };
}

async function measure(kind: Kind, sizes: readonly number[], kept: string | undefined): Promise<Place[]> {
  const say = (what: string): void =>
    void process.stderr.write(`${new Date().toISOString()} ${kind}: ${what}\n`);
  const places: Place[] = [];
  try {
    for (const size of sizes) {
      const folder =
        kept === undefined ? mkdtempSync(join(tmpdir(), 'tally-growth-')) : join(kept, `${kind}-${size}`);
      mkdirSync(folder, { recursive: true });
      const database = await databaseIn(folder, kind, kept !== undefined);
      const env = { ...database.env, TALLY_DATA_DIR: folder, PORT: '0', TALLY_DEVNET: 'off' };
      const filled = await filledOnce({ database, env, size, say }, join(folder, 'filled.json'));
      const times = new Map(OPERATIONS.map(({ name }) => [name, []]));
      places.push({
        kind,
        size,
        folder,
        database,
        env,
        times,
        starts: [],
        purges: [],
        memory: [],
        others: [],
        ...filled,
      });
    }
    for (let number = 0; number <= ROUNDS; number++) {
      say(number === 0 ? 'warming up' : `round ${number} of ${ROUNDS}`);
      for (const place of places) await round(place, number > 0);
    }
  } finally {
    for (const { database, folder } of places) {
      await database.stop();
      if (kept === undefined) rmSync(folder, { recursive: true, force: true });
    }
  }
  return places;
}

/** Fills a database unless the file says that it was filled. */
async function filledOnce(target: Target, file: string): Promise<Filled> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Filled;
  const filled = await fillAll(target);
  writeFileSync(file, JSON.stringify(filled), { mode: 0o600 });
  return filled;
}

async function round(place: Place, counts: boolean): Promise<void> {
  const began = performance.now();
  const child = pinned(SERVE, place.env);
  try {
    const url = await readyUrl(child);
    if (counts) place.starts.push(performance.now() - began);
    const busy = useOf(child);
    const service: Service = { url, ...place };
    for (const operation of OPERATIONS) {
      const times = await timesOf(operation, service);
      if (counts) place.times.get(operation.name)?.push(...times);
    }
    if (counts) place.others.push(busy());
    if (counts) place.memory.push(memory(child, 'VmRSS'));
  } finally {
    await stop(child);
  }
  const purge = await timeOfPurge(place, place.database);
  if (counts) place.purges.push(purge);
}

/** Milliseconds of each time that an operation is done. Some times at first, which fill caches, do not count. */
async function timesOf({ times, warm, ask }: Operation, service: Service): Promise<number[]> {
  const found: number[] = [];
  for (let turn = -warm; turn < times; turn++) {
    const began = performance.now();
    await ask(service);
    if (turn >= 0) found.push(performance.now() - began);
  }
  return found;
}

/** Returns a function that gives the cores that all but the service and this process have used since. */
function useOf(child: ChildProcess): () => number {
  const others = (): number => allCpuSeconds() - cpuSeconds(child) - cpuSeconds(process);
  const before = { others: others(), at: performance.now() };
  return () => (others() - before.others) / ((performance.now() - before.at) / 1_000);
}

function report(places: readonly Place[]): Row[] {
  const [fewest] = places;
  if (fewest === undefined) return [];
  const each = (name: string, unit: string, value: (place: Place) => number): Row[] =>
    places.map((place) => ({
      name: `${place.kind}, ${name}, ${count(place.size)} receipts`,
      value: value(place),
      unit,
    }));
  const against = (name: string, value: (place: Place) => number): Row[] =>
    places.slice(1).map((place) => ({
      name: `${place.kind}, ${name}, ${count(place.size)} / ${count(fewest.size)}`,
      value: value(place) / value(fewest),
      unit: '',
      aim: { at_most: FLAT },
    }));
  return [
    ...each('filled with', '/s', (place) => place.size / place.seconds),
    ...each('a receipt with its leaf, on disk', 'B', (place) => place.bytes / place.size),
    ...OPERATIONS.flatMap(({ name }) => {
      const at = (share: number) => (place: Place) => percentile(place.times.get(name) ?? [], share);
      return [
        ...each(`${name}, p50`, 'ms', at(0.5)),
        ...each(`${name}, p99`, 'ms', at(0.99)),
        ...against(`${name}, p50`, at(0.5)),
      ];
    }),
    ...each('start until ready', 'ms', (place) => median(place.starts)),
    ...against('start until ready', (place) => median(place.starts)),
    ...each(PURGE, 'ms', (place) => median(place.purges)),
    ...against(PURGE, (place) => median(place.purges)),
    ...each('memory after a round', 'MB', (place) => median(place.memory)),
    ...each('cores that others used', '', (place) => median(place.others)),
  ];
}

function pointOf({ kind, size, times, starts, purges }: Place): Point {
  const p50 = OPERATIONS.map(({ name }): [string, number] => [name, percentile(times.get(name) ?? [], 0.5)]);
  const others = [
    ['start until ready', median(starts)],
    [PURGE, median(purges)],
  ] as const;
  return { kind, size, values: new Map([...p50, ...others]) };
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function count(size: number): string {
  return size.toLocaleString('en');
}
