import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { databaseIn } from './lists/databases.ts';
import { BATCH, fill, newKey, tally } from './lists/fill.ts';
import { type Reading, readCalls } from './lists/queries.ts';
import { beginOf, callOf, type Shape } from './lists/rows.ts';
import type { Report, Row } from './report.ts';

const ROWS = 1_000_000;
/** As many as a list of a year has by the month and the two beginnings of ids, and a little more. */
const PARTITIONS = 30;
/** The rows whose deletion is measured, as a share of all: those of one partition. */
const PURGED = 1 / PARTITIONS;
/** Rows that the purge deletes in one transaction. */
const STEP = 250;

interface Cost {
  readonly seconds: number;
  /** Bytes of write-ahead log. */
  readonly wal: number;
}

interface Variant {
  readonly read: readonly Reading[];
  readonly written: Cost;
  readonly purged: Cost;
  /** Of the vacuum that the purge leaves to do. */
  readonly vacuumed: Cost;
}

/** Measures the list of calls on PostgreSQL as one table, and partitioned by the time in its ids. @param rows of the list */
export async function partitions(rows = ROWS): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-partitions-'));
  const say = (what: string): void => void process.stderr.write(`${new Date().toISOString()} ${what}\n`);
  const database = await databaseIn(folder, 'postgres');
  const client = new Client({ connectionString: database.env['TALLY_DATABASE_URL'] });
  try {
    const env = { ...database.env, TALLY_DATA_DIR: folder };
    tally(env, 'keys', 'init');
    const owner = newKey(env);
    const until = Date.now() - 60_000;
    const shape: Shape = { rows, owner: `caller:${owner.id}`, key: owner.id, until, salt: 1 };
    await client.connect();
    const store = await database.open();
    const put = (list: Parameters<typeof store.calls.put>[0]): Promise<void> => store.calls.put(list);
    await fill(shape, put, callOf, say);

    const days = (until - beginOf(shape)) / PARTITIONS / 1_000;
    const bounds = Array.from({ length: PARTITIONS + 1 }, (_, index) =>
      idAt(beginOf(shape) / 1_000 + index * days),
    );
    const measure = async (name: string, salt: number, purge: () => Promise<void>): Promise<Variant> => {
      say(name);
      await database.settle();
      const read = await readCalls(store, shape);
      // Newer than all others, as those of a running service are.
      const newer = { ...shape, rows: BATCH * 4, until: until + 30_000, salt };
      const written = await costOf(client, () =>
        fill(
          newer,
          put,
          (index) => callOf(index + rows, newer),
          () => {},
        ),
      );
      return {
        read,
        written,
        purged: await costOf(client, purge),
        vacuumed: await costOf(client, () => client.query('vacuum calls')),
      };
    };
    const [first = '', second = ''] = bounds;
    const plain = await measure('one table', 2, () => deleteBetween(client, first, second));
    say('partitioning');
    await partition(client, bounds);
    const parted = await measure('partitioned', 3, async () => {
      await client.query('drop table calls_1');
    });
    await store.close();
    return report(rows, plain, parted);
  } finally {
    await client.end();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const idAt = (seconds: number): string => `r_env_${Math.floor(seconds)}`;

/** What is done costs the server, whoever asks for it. Nothing else writes meanwhile. */
async function costOf(client: Client, work: () => Promise<unknown>): Promise<Cost> {
  const position = async (): Promise<string> =>
    (await client.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn')).rows[0]?.lsn ?? '';
  const from = await position();
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const { rows } = await client.query<{ wal: string }>('select pg_wal_lsn_diff($1, $2) as wal', [
    await position(),
    from,
  ]);
  return { seconds, wal: Number(rows[0]?.wal) };
}

/** Deletes rows in small steps, as the purge does, without what belongs to them in other tables. */
async function deleteBetween(client: Client, from: string, before: string): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(
      `delete from calls where id in (select id from calls where id >= $1 and id < $2 order by id limit ${STEP} for update skip locked)`,
      [from, before],
    );
    if ((rowCount ?? 0) < STEP) return;
  }
}

/** Puts a partitioned table with the same rows, columns and indexes in the place of the list of calls. */
async function partition(client: Client, bounds: readonly string[]): Promise<void> {
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes where tablename = 'calls'`,
  );
  await client.query('alter table calls rename to calls_before');
  for (const { indexname } of indexes)
    await client.query(`alter index ${indexname} rename to ${indexname}_before`);
  await client.query('create table calls (like calls_before including defaults) partition by range (id)');
  await client.query('create table calls_0 partition of calls default');
  for (const [index, from] of bounds.slice(0, -1).entries()) {
    const to = index === bounds.length - 2 ? 'maxvalue' : `'${bounds[index + 1]}'`;
    await client.query(
      `create table calls_${index + 1} partition of calls for values from ('${from}') to (${to})`,
    );
  }
  await client.query('insert into calls select * from calls_before');
  for (const { indexdef } of indexes) await client.query(indexdef);
  await client.query('drop table calls_before');
}

function report(rows: number, plain: Variant, parted: Variant): Report {
  const percentile = (times: readonly number[], share: number): number =>
    times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ??
    Number.NaN;
  const reads = plain.read.flatMap(({ name, first, deep }, index): Row[] =>
    (
      [
        ['', first, parted.read[index]?.first ?? []],
        [', deep in', deep, parted.read[index]?.deep ?? []],
      ] as const
    ).flatMap(([where, one, other]) => {
      const of = (times: readonly number[]): number => percentile(times, 0.5);
      return [
        { name: `${name}${where}, one table, p50`, value: of(one), unit: 'ms' },
        { name: `${name}${where}, partitioned, p50`, value: of(other), unit: 'ms' },
        { name: `${name}${where}, partitioned / one table`, value: of(other) / of(one), unit: '×' },
      ];
    }),
  );
  const count = Math.round(rows * PURGED);
  const costs = ([name, { written, purged, vacuumed }]: [string, Variant]): Row[] => [
    { name: `${name}, a call written`, value: (written.seconds / (BATCH * 4)) * 1e6, unit: 'µs' },
    { name: `${name}, a call written, log`, value: written.wal / (BATCH * 4), unit: 'B' },
    { name: `${name}, ${count} calls purged`, value: purged.seconds, unit: 's' },
    { name: `${name}, a call purged, log`, value: purged.wal / count, unit: 'B' },
    { name: `${name}, vacuum after it`, value: vacuumed.seconds, unit: 's' },
    { name: `${name}, vacuum after it, log a call purged`, value: vacuumed.wal / count, unit: 'B' },
  ];
  return {
    title: 'The list of calls on PostgreSQL, as one table and partitioned',
    method: `${rows.toLocaleString('en')} calls of one account; the same rows, columns and indexes as one table and in ${PARTITIONS} partitions by the time in their ids, one after the other. A page has 50 rows, 60 of each kind are read in turn; then ${BATCH * 4} newer calls are written through the store, and the oldest partition's are purged: in steps of ${STEP}, or dropped.`,
    rows: [...reads, ...costs(['one table', plain]), ...costs(['partitioned', parted])],
  };
}
