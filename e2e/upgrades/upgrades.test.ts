import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { VERSION } from '@tallystick/core';
import { openStore, readConfig } from '@tallystick/server';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../packages/server/test/postgres.ts';
import { fsck, SOUND } from '../log-client.ts';
import { type Ended, type Env, tally as runTally, temporaryFolder } from '../process.ts';
import { readState, stateVersions } from './states.ts';
import { postgresTables, sqliteTables, type Tables } from './tables.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

/** A database that an earlier release has left. */
interface OldDatabase {
  readonly folder: string;
  readonly env: Env;
  /** Looks into it behind the service's back. */
  inspect<T>(look: (tables: Tables) => Promise<T>): Promise<T>;
}

function oldSqlite(version: number): OldDatabase {
  const folder = temporaryFolder();
  const file = join(folder, 'tally.db');
  writeFileSync(file, readState(version, 'tally.db'));
  writeFileSync(join(folder, 'trust.json'), readState(version, 'sqlite-trust.json'));
  return {
    folder,
    env: { TALLY_DATA_DIR: folder },
    inspect: async (look) => {
      const db = new DatabaseSync(file);
      try {
        return await look(sqliteTables(db));
      } finally {
        db.close();
      }
    },
  };
}

async function oldPostgres(version: number): Promise<OldDatabase> {
  const folder = temporaryFolder();
  const url = await postgres.url(`version_${version}`);
  const inspect: OldDatabase['inspect'] = async (look) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return await look(postgresTables(client));
    } finally {
      await client.end();
    }
  };
  const dump = readState(version, 'postgres.sql').toString();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(dump);
  await client.end();
  writeFileSync(join(folder, 'trust.json'), readState(version, 'postgres-trust.json'));
  return { folder, env: { TALLY_DATA_DIR: folder, TALLY_DATABASE_URL: url }, inspect };
}

/** Each table's columns and rows, as they are now. */
type Contents = Map<string, { columns: string[]; rows: string[] }>;

async function contentsOf(tables: Tables): Promise<Contents> {
  const contents: Contents = new Map();
  for (const table of await tables.names()) {
    const columns = await tables.columns(table);
    contents.set(table, { columns, rows: await tables.read(table, columns) });
  }
  return contents;
}

/** Tables to which the upgrade itself adds rows. */
const ADDED_TO: ReadonlySet<string> = new Set([
  'schema_migrations',
  'compression_days',
  'compression_method_days',
]);

/** Every row that was there before the upgrade is still there, in the columns that it had. */
async function expectKept(before: Contents, tables: Tables): Promise<void> {
  for (const [table, { columns, rows }] of before) {
    const now = await tables.read(table, columns);
    expect(rows.length, table).toBeGreaterThan(0);
    const kept = ADDED_TO.has(table) ? now.filter((row) => rows.includes(row)) : now;
    expect(kept, table).toEqual(rows);
  }
}

/** The last second in which the trust bundle is valid. */
function trustedUntil({ folder }: OldDatabase): string {
  const bundle = JSON.parse(readFileSync(join(folder, 'trust.json'), 'utf8')) as { expires_at: string };
  return new Date(Date.parse(bundle.expires_at) - 1_000).toISOString();
}

/** The values of a text column that are not null. */
async function textsOf(database: OldDatabase, table: string, column: string): Promise<string[]> {
  const values = await database.inspect((tables) => tables.read(table, [column]));
  // SQLite quotes them.
  return values
    .filter((value) => value !== 'NULL')
    .map((value) => value.replace(/^'(.*)'$/s, '$1').replaceAll("''", "'"));
}

const kinds = [
  ['SQLite', oldSqlite],
  ['PostgreSQL', oldPostgres],
] as const;
/** The schema versions of before a version named the release that made it. */
const WITHOUT_RELEASE = 9;
const states = stateVersions().flatMap((version) =>
  kinds.map(([kind, open]) => [version, kind, open] as const),
);

it('has data of every schema version before those that this release added', () => {
  expect(stateVersions()).toEqual(Array.from({ length: WITHOUT_RELEASE }, (_, at) => at + 1));
});

describe.each(states)('the data of schema version %i on %s', (version, _kind, open) => {
  let old: OldDatabase;
  let before: Contents;
  let receipts: string[];

  beforeAll(async () => {
    old = await open(version);
    before = await old.inspect(contentsOf);
    receipts = await textsOf(old, 'receipts', 'body');
  });

  const tally = (...args: string[]): Promise<Ended> => runTally(args, old.env);

  it('has rows in every table', () => {
    for (const [table, { rows }] of before) expect(rows.length, table).toBeGreaterThan(0);
    expect(before.size).toBeGreaterThanOrEqual(6);
  });

  it('is brought to the newest version with every row that it has', async () => {
    expect(await tally('ledger', 'check', '--json')).toMatchObject({ code: 0 });
    await old.inspect(async (tables) => {
      await expectKept(before, tables);
      const versions = await tables.read('schema_migrations', ['version', 'release']);
      expect(versions.filter((row) => !row.includes(VERSION))).toHaveLength(WITHOUT_RELEASE);
    });
  });

  it('has receipts that verify with the trust bundle of that time', async () => {
    const folder = join(old.folder, 'receipts');
    mkdirSync(folder);
    const files = receipts.map((body, at) => {
      const file = join(folder, `${at}.json`);
      writeFileSync(file, body);
      return file;
    });
    expect(files.length).toBeGreaterThan(3);
    const verified = await tally(
      'verify',
      ...files,
      '--trust',
      join(old.folder, 'trust.json'),
      '--as-of',
      trustedUntil(old),
    );
    expect(verified).toMatchObject({ code: 0 });
  });

  it('is read by the service and its commands', async () => {
    const store = await openStore(readConfig(old.env));
    const read = await Promise.all((await textsOf(old, 'receipts', 'id')).map((id) => store.getReceipt(id)));
    await store.close();
    const bodies = read.flatMap((one) => (one.kind === 'found' ? one.body : []));
    expect(bodies.toSorted()).toEqual(receipts.toSorted());
    expect(read.filter(({ kind }) => kind === 'purged')).toHaveLength(1);
    const lists = ['apikey list', 'tenant list', 'orders list --all', 'ledger statement external'];
    const said = await Promise.all(lists.map((list) => tally(...list.split(' '), '--json')));
    expect(said.map(({ code, stderr }) => [code, stderr])).toEqual(lists.map(() => [0, '']));
  });

  it.skipIf(version < 2)('has a sound log', async () => {
    expect(await fsck(old.env)).toMatchObject(SOUND);
  });
});
