/**
 * Makes the data of earlier releases, which `upgrades.test.ts` brings to the newest version. For each schema version there
 * has been, it makes the data of a service with SQLite and of one with PostgreSQL. The code of that time writes them: the
 * script takes it from this repository's history, installs it in a folder of its own, starts a service with a development
 * chain, and asks it for receipts, anchors, calls and money. A table that is empty afterwards gets the rows of `rows.ts`.
 * Versions 7 and 8 were never the newest in the history: their data are those of version 6 with the later migrations.
 *
 *     node e2e/upgrades/make.ts <version>…
 *
 * Needs the whole history, npm's registry, and Debian's package postgresql.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { asPostgres, postgresPrograms, startCluster } from '../system/postgres-cluster.ts';
import { addMissingRows } from './rows.ts';
import { readState, stateFolder, writeState } from './states.ts';
import { postgresTables, sqliteTables } from './tables.ts';

/** The last commit at each version. */
const COMMITS: Readonly<Record<number, string>> = {
  1: 'c42d603',
  2: '426e975',
  3: '0c7ab80',
  4: '4d3f14e',
  5: '617bf73',
  6: '9ecdde7',
  9: '2975512',
};

/** The SQL of migrations 7 and 8, with the types that each database has of its own. */
function changes(version: number, key: string, bytes: string, clustered: string): string {
  const seventh = `
    create table processes (id ${key} not null primary key, lease_until double precision not null) ${clustered};
    create table claims (scope ${key} not null primary key, request_hash text not null, process ${key} not null,
      token text not null) ${clustered};
    alter table reservations add column process ${key};
    insert into schema_migrations values (7, 'process-leases', 1790000000);`;
  const eighth = `
    create table log_witnesses (name ${key} not null, public_key ${bytes} not null,
      constraint log_witnesses_pk primary key (name, public_key));
    insert into schema_migrations values (8, 'log witnesses', 1790000000);`;
  return version === 7 ? seventh : seventh + eighth;
}

type Env = Readonly<Record<string, string>>;

const root = new URL('../..', import.meta.url).pathname;
const work = mkdtempSync(join(tmpdir(), 'tally-states-'));
// Debian's PostgreSQL runs as another user, who has to enter it.
chmodSync(work, 0o755);

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: root, stdio: 'inherit' });
}

/** The code of a version, installed. */
function checkOut(version: number): string {
  const folder = join(work, `code-${version}`);
  git('worktree', 'add', '--detach', folder, COMMITS[version] ?? '');
  const how = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', ['install', ...how], { cwd: folder, stdio: 'inherit' });
  // The pages and the development chain: no service starts without them, and not every installation has them.
  for (const needed of ['packages/web/built', 'node_modules/@foundry-rs']) {
    if (!existsSync(join(folder, needed))) symlinkSync(join(root, needed), join(folder, needed));
  }
  return folder;
}

/** Starts a service of an earlier release and asks it for everything. It refuses what it does not offer yet. */
async function use(code: string, env: Env): Promise<void> {
  const folder = env['TALLY_DATA_DIR'] ?? '';
  const program = join(code, 'packages/cli/bin/tally.js');
  const service = spawn(process.execPath, [program, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(service, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    service.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
      const found = /^tallystick is ready on (\S+)$/m.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`tally serve ended: ${said}`)));
  });
  const tally = (...args: string[]): string => {
    try {
      return execFileSync(process.execPath, [program, ...args], {
        env: { ...env, TALLY_URL: url, TALLY_HOME: join(folder, 'home') },
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      }).trim();
    } catch {
      process.stderr.write(`  not at this version: tally ${args.join(' ')}\n`);
      return '';
    }
  };
  const ask = async (method: string, path: string, body: unknown, headers: Env = {}): Promise<void> => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) process.stderr.write(`  ${response.status} ${path}: ${text.slice(0, 200)}\n`);
  };

  tally('mint', '--text', 'two pallets', '--out', 'mint.json');
  for (const profile of ['nano', 'standard', 'pq']) {
    tally('emit', '--profile', profile, '--text', `a job in ${profile}`, '--out', `${profile}.json`);
  }
  writeFileSync(join(folder, 'units.csv'), 'unit,receipt\n1,mint.json\n2,nano.json\n');
  const facts =
    '--machine SN-1 --customer acme --rate-reference c-1 --unit pallet_moved --billed 2 --currency EUR';
  const period = '--from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z --unit-rate-minor 250';
  tally(...`meter mint ${facts} ${period} --evidence units.csv --out bill.json`.split(' '));
  tally('keys', 'rotate');
  tally('mint', '--text', 'after the rotation', '--out', 'rotated.json');
  tally('keys', 'generate', '--out', 'acme.key');
  tally('keys', 'register', '--handle', 'acme', '--key', 'acme.key');
  tally('trust', 'approve', 'did:svc:acme');
  await ask(
    'POST',
    '/v1/receipt/free',
    { input: 'again', purpose: 'demo' },
    { 'idempotency-key': 'fixture' },
  );

  const key = tally('apikey', 'create', '--tier', 'pro', '--json');
  if (key !== '') {
    const { id, key: secret } = JSON.parse(key) as { id: string; key: string };
    const bearer = { authorization: `Bearer ${secret}` };
    for (const file of ['mint.json', 'nano.json', 'rotated.json']) {
      tally('anchor', file, '--api-key', secret, '--wait', '--out', `${file}.anchor`);
    }
    tally('ledger', 'credit', id, '5', '--reference', 'fixture');
    const question = 'The ferry to Heligoland leaves at 7:40. When does the ferry leave?';
    const log = Array.from({ length: 60 }, (_, at) => `line ${at}: nothing happened at the pier`).join('\n');
    for (const content of [question, `${log}\n${question}`]) {
      const body = { model: 'auto', messages: [{ role: 'user', content }], svc: { compression: 'lossless' } };
      await ask('POST', '/v1/compute/chat/completions', body, bearer);
    }
    tally('orders', 'list', '--all');
    await ask('POST', '/v1/anchor/keys/quote', { tier: 'pro', months: 1, contact: 'a@example.com' });
  }
  const tenant = tally('tenant', 'create', '--label', 'fixture');
  if (tenant !== '') {
    const bearer = { authorization: `Bearer ${tally('tenant', 'key', tenant)}` };
    await ask('POST', `/tenants/${tenant}/receipts`, { input: 'in a room', purpose: 'demo' }, bearer);
    await ask('GET', `/tenants/${tenant}/evidence`, null, bearer);
  }
  const trust = await (await fetch(`${url}/.well-known/trust.json`)).text();
  writeFileSync(join(folder, 'trust.json'), trust);
  service.kill('SIGTERM');
  await ended;
}

function environment(folder: string, more: Env = {}): Env {
  mkdirSync(folder);
  return {
    PATH: process.env['PATH'] ?? '',
    PORT: '0',
    TALLY_DATA_DIR: folder,
    TALLY_KEYRING: join(folder, 'keyring.json'),
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_LOG_LEVEL: 'error',
    TALLY_PAYMENTS: 'x402',
    ...more,
  };
}

/** Runs the service of a version on an empty database of each kind. */
async function makeState(version: number): Promise<void> {
  const code = checkOut(version);
  const sqlite = join(work, `sqlite-${version}`);
  await use(code, environment(sqlite));
  await keepSqlite(version, join(sqlite, 'tally.db'));
  writeState(version, 'sqlite-trust.json', readFileSync(join(sqlite, 'trust.json')));
  await withPostgres(version, async (url, folder) => {
    const data = join(folder, 'data');
    await use(code, environment(data, { TALLY_DATABASE_URL: url }));
    await keepPostgres(version, url);
    writeState(version, 'postgres-trust.json', readFileSync(join(data, 'trust.json')));
  });
}

/** Applies the migrations after version 6 to its data. */
async function deriveState(version: number): Promise<void> {
  const file = join(work, `tally-${version}.db`);
  writeFileSync(file, readState(6, 'tally.db'));
  const db = new DatabaseSync(file);
  db.exec(changes(version, 'text', 'blob', 'without rowid'));
  db.close();
  await keepSqlite(version, file);
  await withPostgres(version, async (url) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(readState(6, 'postgres.sql').toString());
    await client.query(`set search_path = public; ${changes(version, 'text collate "C"', 'bytea', '')}`);
    await client.end();
    await keepPostgres(version, url);
  });
  for (const file of ['sqlite-trust.json', 'postgres-trust.json'] as const)
    writeState(version, file, readState(6, file));
}

async function keepSqlite(version: number, file: string): Promise<void> {
  const db = new DatabaseSync(file);
  await addMissingRows(sqliteTables(db));
  db.exec('PRAGMA wal_checkpoint(truncate); PRAGMA journal_mode = delete');
  db.close();
  writeState(version, 'tally.db', readFileSync(file));
}

async function keepPostgres(version: number, url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await addMissingRows(postgresTables(client));
  await client.end();
  const dump = await asPostgres(join(postgresPrograms(), 'pg_dump'), '--inserts', '--no-owner', url);
  // Lines that begin with a backslash are commands of psql; the test sends the dump to the server itself.
  writeState(version, 'postgres.sql', Buffer.from(dump.replaceAll(/^\\.*\n/gm, '')));
}

async function withPostgres(
  version: number,
  task: (url: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = join(work, `postgres-${version}`);
  mkdirSync(folder);
  const postgres = await startCluster(folder);
  try {
    await task(postgres.url('postgres'), folder);
  } finally {
    await postgres.stop('immediate');
  }
}

try {
  for (const version of process.argv.slice(2).map(Number)) {
    mkdirSync(stateFolder(version), { recursive: true });
    await (version in COMMITS ? makeState(version) : deriveState(version));
  }
} finally {
  for (const version of Object.keys(COMMITS)) {
    const folder = join(work, `code-${version}`);
    if (existsSync(folder)) git('worktree', 'remove', '--force', folder);
  }
  rmSync(work, { recursive: true });
}
