import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type BenchDatabase, databaseIn } from './lists/databases.ts';
import { type Key, tally } from './lists/fill.ts';
import { type Loaded, load, type Requests } from './load.ts';
import {
  childrenOf,
  cpuSeconds,
  LOAD_CORE,
  moveToLoadCore,
  pinned,
  readyUrl,
  SERVE,
  SERVER_CORE,
  stop,
} from './processes.ts';
import type { Report, Row } from './report.ts';

const RECEIPTS = 20_000;
const CONNECTIONS = 64;
const HASHES = 1_000;
const BATCH = 1_000;
/** Tables that grow by fewer bytes are not shown. */
const LEAST = 10;
/** Leaves of the larger log. */
const LEAVES = 2_000_000;
/** Later than every receipt is kept. */
const END_OF_TIME = 2 ** 40;

/** What some work has used. */
interface Used {
  readonly rate: number;
  readonly p99: number;
  /** CPU time in microseconds of the service, and of all processes of PostgreSQL. */
  readonly service: number;
  readonly postgres: number;
  /** Bytes of the write-ahead log, and by which the tables with their indexes grew, by table. */
  readonly wal: number;
  readonly stored: ReadonlyMap<string, number>;
}

/** Measures what one receipt and one hash cost on PostgreSQL, for the plan of docs/operating/scale.md. */
export async function scale(receipts = RECEIPTS): Promise<Report> {
  moveToLoadCore();
  const folder = mkdtempSync(join(tmpdir(), 'tally-scale-'));
  const database = await databaseIn(folder, 'postgres');
  const env: Readonly<Record<string, string>> = { ...database.env, TALLY_DATA_DIR: folder };
  const client = new Client({ connectionString: env['TALLY_DATABASE_URL'] });
  let child: ChildProcess | undefined;
  try {
    tally(env, 'keys', 'init');
    const { key } = JSON.parse(tally(env, 'apikey', 'create', '--tier', 'enterprise', '--json')) as Key;
    await client.connect();
    const service = pinned(SERVE, { ...env, PORT: '0', TALLY_DEVNET: 'off' });
    child = service;
    const url = await readyUrl(service);
    const postmaster = Number(readFileSync(`${folder}-postgres/postmaster.pid`, 'utf8').split('\n')[0]);
    const measure = (work: () => Promise<Loaded>, pieces: number): Promise<Used> =>
      use(client, { service: service.pid, postmaster }, work, pieces);
    const ask = (
      requests: Pick<Requests, 'method' | 'target' | 'headers'>,
      amount: number,
    ): Promise<Loaded> => load(url, { connections: CONNECTIONS, ...requests }, { amount });

    let made = 0;
    const mint = { input: 'x'.repeat(200), purpose: 'benchmark' };
    const json = { 'content-type': 'application/json' };
    const own = { ...json, authorization: `Bearer ${key}` };
    const free = {
      method: 'POST',
      headers: json,
      target: { path: '/v1/receipt/free', body: JSON.stringify(mint) },
    } as const;
    const emit = {
      method: 'POST',
      headers: own,
      target: () => ({
        path: '/v1/receipt/emit',
        body: JSON.stringify({
          payload: { order: made++, total: '19.90' },
          purpose: 'benchmark',
          anchor: true,
        }),
      }),
    } as const;
    const hashes = {
      method: 'POST',
      headers: own,
      target: () => ({
        path: '/v1/anchor/batch',
        body: JSON.stringify({ canonical_sha256: Array.from({ length: HASHES }, () => hash(made++)) }),
      }),
    } as const;
    const warm = Math.ceil(receipts / 10);
    await ask(free, warm);
    await ask(emit, warm);
    say('free mints');
    const minted = await measure(() => ask(free, receipts), receipts);
    say('receipts of a key with their leaves in the log');
    const emitted = await measure(() => ask(emit, receipts), receipts);
    say('hashes in batches');
    const batches = Math.max(CONNECTIONS, Math.ceil(receipts / HASHES) * 5);
    const placed = await measure(() => ask(hashes, batches), batches * HASHES);
    const id = JSON.parse(
      await (await fetch(`${url}/v1/receipt/free`, { ...free, body: free.target.body })).text(),
    ) as { receipt_id: string };
    say('reads');
    const read = await measure(
      () => ask({ method: 'GET', target: { path: `/v1/receipt/${id.receipt_id}` } }, receipts),
      receipts,
    );
    await stop(service);
    say('purge');
    const purged = await purge(client, postmaster, database);
    say('a larger log');
    const larger = await largerLog(client);
    return {
      title: 'What a receipt costs on PostgreSQL',
      method:
        `${receipts.toLocaleString('en')} of each kind after ${warm.toLocaleString('en')} that do not count; the service on core ${SERVER_CORE}, ${CONNECTIONS} connections from core ${LOAD_CORE}, ` +
        'PostgreSQL 18 with its default settings but max_wal_size = 4GB, on either. CPU time is that of the processes, whoever else uses the machine.',
      rows: [
        ...rows('free mint', minted),
        ...rows('receipt of a key with its leaf', emitted),
        ...rows(`hash, ${HASHES} in a request`, placed, HASHES),
        ...rows('read of a receipt', read).slice(0, 4),
        ...purged,
        ...larger,
      ],
    };
  } finally {
    if (child !== undefined) await stop(child);
    await client.end();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function use(
  client: Client,
  { service, postmaster }: { readonly service: number | undefined; readonly postmaster: number },
  work: () => Promise<Loaded>,
  pieces: number,
): Promise<Used> {
  const before = {
    service: cpuSeconds({ pid: service }),
    postgres: cpuOf(postmaster),
    ...(await sizes(client)),
  };
  const { rate, p99 } = await work();
  const after = await sizes(client);
  return {
    rate,
    p99,
    service: ((cpuSeconds({ pid: service }) - before.service) / pieces) * 1e6,
    postgres: ((cpuOf(postmaster) - before.postgres) / pieces) * 1e6,
    wal: (after.wal - before.wal) / pieces,
    stored: new Map(
      [...after.stored].map(([table, bytes]) => [table, (bytes - (before.stored.get(table) ?? 0)) / pieces]),
    ),
  };
}

function rows(name: string, used: Used, pieces = 1): Row[] {
  return [
    { name: `${name}, a second`, value: used.rate * pieces, unit: '/s' },
    { name: `${name}, p99 of the request`, value: used.p99, unit: 'ms' },
    { name: `${name}, CPU of the service`, value: used.service, unit: 'µs' },
    { name: `${name}, CPU of PostgreSQL`, value: used.postgres, unit: 'µs' },
    { name: `${name}, write-ahead log`, value: used.wal, unit: 'B' },
    {
      name: `${name}, tables and indexes`,
      value: [...used.stored.values()].reduce((sum, one) => sum + one, 0),
      unit: 'B',
    },
    ...[...used.stored]
      .filter(([, bytes]) => bytes >= LEAST)
      .toSorted(([, a], [, b]) => b - a)
      .map(([table, bytes]) => ({ name: `${name}, of them ${table}`, value: bytes, unit: 'B' })),
  ];
}

/** Deletes every receipt, as the service does when their time is over. */
async function purge(client: Client, postmaster: number, database: BenchDatabase): Promise<Row[]> {
  const store = await database.open();
  try {
    const before = { postgres: cpuOf(postmaster), ...(await sizes(client)) };
    const began = performance.now();
    let count = 0;
    for (let last = BATCH; last === BATCH; count += last)
      last = (await store.purge(END_OF_TIME, BATCH)).receipts;
    const seconds = (performance.now() - began) / 1_000;
    const { wal } = await sizes(client);
    const postgres = ((cpuOf(postmaster) - before.postgres) / count) * 1e6;
    await client.query('vacuum full receipts');
    const left = await client.query(
      "select pg_total_relation_size('receipts') / (select count(*) from receipts) as bytes",
    );
    return [
      { name: 'purged receipts, a second', value: count / seconds, unit: '/s' },
      { name: 'purged receipt, CPU of PostgreSQL', value: postgres, unit: 'µs' },
      { name: 'purged receipt, write-ahead log', value: (wal - before.wal) / count, unit: 'B' },
      {
        name: 'purged receipt, what stays in tables and indexes',
        value: Number(left.rows[0].bytes),
        unit: 'B',
      },
    ];
  } finally {
    await store.close();
  }
}

async function sizes(client: Client): Promise<{ wal: number; stored: Map<string, number> }> {
  const wal = await client.query("select pg_current_wal_lsn() - '0/0'::pg_lsn as bytes");
  const tables = await client.query(
    "select relname as name, pg_total_relation_size(oid) as bytes from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  return {
    wal: Number(wal.rows[0].bytes),
    stored: new Map(tables.rows.map(({ name, bytes }) => [String(name), Number(bytes)])),
  };
}

/**
 * Bytes of the write-ahead log for a hash in a larger log, between two checkpoints of PostgreSQL: the first change of a page
 * after a checkpoint writes the whole page, and hashes are spread over the whole index.
 */
async function largerLog(client: Client): Promise<Row[]> {
  const insert = async (count: number): Promise<number> => {
    const { wal } = await sizes(client);
    await client.query(
      `insert into leaves (idx, hash, batch_at)
       select i, sha256(int8send(i)), 0 from generate_series((select max(idx) + 1 from leaves), (select max(idx) from leaves) + ${count}) as i`,
    );
    return ((await sizes(client)).wal - wal) / count;
  };
  await client.query('set synchronous_commit = off');
  await insert(LEAVES);
  const { stored } = await sizes(client);
  const { rows: counted } = await client.query('select count(*) as leaves from leaves');
  const bytes = (stored.get('leaves') ?? 0) / Number(counted[0].leaves);
  const name = `hash in a log of ${LEAVES.toLocaleString('en')}`;
  const found: Row[] = [{ name: `${name}, table of leaves and its indexes`, value: bytes, unit: 'B' }];
  for (const count of [10_000, 100_000]) {
    await client.query('checkpoint');
    const wal = await insert(count);
    found.push({
      name: `${name}, write-ahead log, ${count.toLocaleString('en')} between checkpoints`,
      value: wal,
      unit: 'B',
    });
  }
  return found;
}

/** CPU time in seconds of a server that opens no connections meanwhile. */
function cpuOf(postmaster: number): number {
  return [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + cpuSeconds({ pid }), 0);
}

function hash(index: number): string {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(index, 28);
  return bytes.toString('base64url');
}

function say(what: string): void {
  process.stderr.write(`${what} …\n`);
}
