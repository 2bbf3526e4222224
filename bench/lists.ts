import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../packages/store/src/store.ts';
import { PEERS } from './gateway.ts';
import { type BenchDatabase, databaseIn, STORES } from './lists/databases.ts';
import { BATCH, fill, type Key, newKey, tally } from './lists/fill.ts';
import { type Reading, readCalls, readReceipts } from './lists/queries.ts';
import { callOf, receiptOf, type Shape } from './lists/rows.ts';
import { type Crowded, type Exported, exportCalls, listUnderCalls, type Running } from './lists/service.ts';
import { cpuSeconds, LOAD_CORE, pinned, readyUrl, SERVE, stop } from './processes.ts';
import type { Report, Row } from './report.ts';

const ROWS = 5_000_000;
const AIM_MS = 30;
/** How old the newest row of a list may be while calls come in all the time. */
const LAG_MS = 1_000;
const CALLS_A_SECOND = 500;
const SECONDS = 30;

type Kind = (typeof STORES)[number];

/** Measures reading, exporting and filling the lists of calls and receipts. @param rows of each list */
export async function lists(rows = ROWS, only?: string): Promise<Report> {
  const measured: Row[] = [];
  for (const kind of STORES.filter((one) => only === undefined || one === only))
    measured.push(...(await measure(kind, rows)));
  return {
    title: 'Lists of calls and of receipts',
    method:
      `${rows.toLocaleString('en')} rows of calls and as many of receipts, written in transactions of ${BATCH}; four fifths of the calls and all receipts ` +
      'are of one account, which is asked. A page has 50 rows; its first one, then one that begins at a random time. Each filter in turn, 60 times, in the process of the store.',
    rows: measured,
  };
}

async function measure(kind: Kind, rows: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-lists-'));
  const say = (what: string): void =>
    void process.stderr.write(`${new Date().toISOString()} ${kind}: ${what}\n`);
  const database = await databaseIn(folder, kind);
  try {
    const env = { ...database.env, TALLY_DATA_DIR: folder };
    tally(env, 'keys', 'init');
    const [large, small, caller] = [newKey(env), newKey(env), newKey(env)];
    const until = Date.now() - 60_000;
    const shape = shapeOf(large.id, rows * 0.8, until, 10);
    const exported = shapeOf(small.id, rows * 0.2, until, 11);
    const receipts = shapeOf(large.id, rows, until, 12);
    const store = await database.open();
    const seconds = {
      calls: await timed(async () => {
        await fill(shape, (list) => store.calls.put(list), callOf, say);
        await fill(exported, (list) => store.calls.put(list), callOf, say);
      }),
      receipts: await timed(() => fill(receipts, (list) => store.receiptList.put(list), receiptOf, say)),
    };
    say('vacuum');
    await database.settle();
    say('pages');
    const read = await reading(store, shape, receipts);
    await store.close();
    const served = await serve(database, folder, { large, small, caller }, exported.rows, say);
    return report(kind, { rows, seconds, ...read, ...served });
  } finally {
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function shapeOf(id: string, rows: number, until: number, salt: number): Shape {
  return { rows: Math.floor(rows), owner: `caller:${id}`, key: id, until, salt };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

async function reading(
  store: Store,
  calls: Shape,
  receipts: Shape,
): Promise<{ calls: Reading[]; receipts: Reading[]; processor: number }> {
  const before = cpuSeconds(process);
  const began = performance.now();
  const read = { calls: await readCalls(store, calls), receipts: await readReceipts(store, receipts) };
  return { ...read, processor: (cpuSeconds(process) - before) / ((performance.now() - began) / 1_000) };
}

interface Keys {
  readonly large: Key;
  readonly small: Key;
  readonly caller: Key;
}

async function serve(
  database: BenchDatabase,
  folder: string,
  { large, small, caller }: Keys,
  rows: number,
  say: (what: string) => void,
): Promise<{ exported: Exported; quiet: Crowded; crowded: Crowded }> {
  const upstream = pinned([PEERS], {}, LOAD_CORE);
  const upstreamUrl = await readyUrl(upstream);
  const env = { ...database.env, TALLY_DATA_DIR: folder };
  tally(env, 'ledger', 'credit', caller.id, '1000000');
  tally(env, 'ledger', 'credit', large.id, '1000000');
  const child = pinned(SERVE, {
    ...env,
    PORT: '0',
    TALLY_DEVNET: 'off',
    OPENAI_BASE_URL: `${upstreamUrl}/v1`,
    OPENAI_API_KEY: 'benchmark',
  });
  try {
    const url = await readyUrl(child);
    const running = (key: Key): Running => ({ url, child, key: key.key });
    say('export');
    const exported = await exportCalls(running(small), rows);
    // The list that is read is the one that grows.
    const load = { caller: large.key, perSecond: CALLS_A_SECOND, seconds: SECONDS };
    say('the list alone');
    const quiet = await listUnderCalls(running(large), { ...load, perSecond: 0 });
    say('the list while calls come in');
    await listUnderCalls(running(large), { ...load, seconds: 5 });
    const crowded = await listUnderCalls(running(large), load);
    await sleep(1_000);
    return { exported, quiet, crowded };
  } finally {
    await stop(child, upstream);
  }
}

interface Measured {
  readonly rows: number;
  readonly seconds: { readonly calls: number; readonly receipts: number };
  readonly calls: readonly Reading[];
  readonly receipts: readonly Reading[];
  /** Cores that this process used while it read pages. */
  readonly processor: number;
  readonly exported: Exported;
  readonly quiet: Crowded;
  readonly crowded: Crowded;
}

function report(kind: Kind, { rows, seconds, calls, receipts, processor, ...served }: Measured): Row[] {
  const { exported, quiet, crowded } = served;
  const p95 = (name: string, times: readonly number[]): Row[] => [
    { name: `${kind}, ${name}, p50`, value: percentile(times, 0.5), unit: 'ms' },
    { name: `${kind}, ${name}, p95`, value: percentile(times, 0.95), unit: 'ms', aim: { at_most: AIM_MS } },
  ];
  const pages = (list: string, readings: readonly Reading[]): Row[] =>
    readings.flatMap(({ name, first, deep }) => [
      ...p95(`${list}: ${name}`, first),
      ...p95(`${list}: ${name}, deep in`, deep),
    ]);
  return [
    { name: `${kind}, calls written`, value: rows / seconds.calls, unit: '/s' },
    { name: `${kind}, receipts written`, value: rows / seconds.receipts, unit: '/s' },
    ...pages('calls', calls),
    ...pages('receipts', receipts),
    { name: `${kind}, cores that this process had meanwhile`, value: processor, unit: '' },
    { name: `${kind}, exported calls`, value: exported.rows, unit: '' },
    { name: `${kind}, exported a second`, value: exported.rows / exported.seconds, unit: '/s' },
    { name: `${kind}, size of the export`, value: exported.megabytes, unit: 'MB' },
    { name: `${kind}, memory before the export`, value: exported.before, unit: 'MB' },
    {
      name: `${kind}, most memory in the export`,
      value: Math.max(...exported.during),
      unit: 'MB',
      rounds: exported.during,
    },
    ...p95('the list over HTTP, alone', quiet.list),
    { name: `${kind}, calls a second meanwhile`, value: crowded.calls, unit: '/s' },
    ...p95('the list over HTTP, while they come in', crowded.list),
    {
      name: `${kind}, age of the newest row then, p95`,
      value: percentile(crowded.age, 0.95),
      unit: 'ms',
      aim: { at_most: LAG_MS },
    },
    { name: `${kind}, cores that the service used then`, value: crowded.cores.own, unit: '' },
    { name: `${kind}, cores that others used then`, value: crowded.cores.others, unit: '' },
  ];
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
