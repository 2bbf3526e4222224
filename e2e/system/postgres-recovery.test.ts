import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Acknowledged } from '../acknowledged.ts';
import { createKey, fsck, type Key, SOUND, until, untilAnchored } from '../log-client.ts';
import { type PostingChain, startPostingChain } from '../posting-chain.ts';
import { type Env, type Served, serve, tally, temporaryFolder } from '../process.ts';
import {
  clusterOf,
  type PostgresCluster,
  postgresFolder,
  postgresPrograms,
  startCluster,
} from './postgres-cluster.ts';

const PASSWORD = 'p:w@d';

const folder = temporaryFolder();
const base = join(folder, 'base');
const running = new Set<PostgresCluster>();
const early = new Acknowledged('early');
const late = new Acknowledged('late');
let archive: string;
let postgres: PostgresCluster;
let admin: Client;
let chain: PostingChain;
let env: Env;
let key: Key;
/** A moment after everything early, and before everything late. */
let point: string;

beforeAll(async () => {
  archive = postgresFolder(folder, 'archive');
  [postgres, chain] = await Promise.all([startCluster(folder), startPostingChain(folder)]);
  running.add(postgres);
  admin = await connect(postgres);
  await admin.query(`create role tally login password '${PASSWORD}'`);
  await admin.query('create database tally owner tally');
  env = {
    ...chain.env,
    PATH: process.env['PATH'] ?? '',
    TALLY_DATA_DIR: folder,
    TALLY_KEYRING: join(folder, 'keyring.json'),
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
    TALLY_DATABASE_URL: urlOf(postgres),
  };
});
afterAll(async () => {
  await admin?.end().catch(() => undefined);
  for (const one of running) await one.stop('immediate');
});

function urlOf({ port }: PostgresCluster): string {
  return `postgres://tally:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/tally`;
}

async function connect(cluster: PostgresCluster): Promise<Client> {
  const client = new Client({ connectionString: cluster.url('postgres') });
  // A server that is stopped ends its connections.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function restart(...sql: string[]): Promise<void> {
  for (const one of sql) await admin.query(one);
  await admin.end();
  await postgres.stop();
  await postgres.start();
  admin = await connect(postgres);
}

async function extend(server: Served, acknowledged: Acknowledged): Promise<void> {
  for (let count = 0; count < 5; count++) await acknowledged.mint(server.url);
  await acknowledged.placed.place(server.url, key, 20);
  await untilAnchored(server.url, early.placed.answered + late.placed.answered);
}

/** Resolves once everything that is committed is in the archive. */
async function archiveAll(): Promise<void> {
  const { rows } = await admin.query('select pg_walfile_name(pg_switch_wal()) as file');
  await until(async () => existsSync(join(archive, rows[0].file)), Boolean);
}

/** Restores the base backup, and the WAL up to a time or to its end, as docs/runbook.md tells it. */
async function restore(name: string, end: string | null): Promise<{ cluster: PostgresCluster; env: Env }> {
  const data = postgresFolder(folder, name);
  const next = postgresFolder(folder, `${name}-archive`);
  execFileSync('cp', ['-a', `${base}/.`, data]);
  chmodSync(data, 0o700);
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', data]);
  writeFileSync(join(data, 'recovery.signal'), '');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    [
      `archive_command = 'test ! -f ${next}/%f && cp %p ${next}/%f'`,
      `restore_command = 'cp ${archive}/%f %p'`,
      ...(end === null ? [] : [`recovery_target_time = '${end}'`, "recovery_target_action = 'promote'"]),
      '',
    ].join('\n'),
  );
  const cluster = await clusterOf(data);
  await cluster.start();
  running.add(cluster);
  const client = await connect(cluster);
  const isRecovering = async (): Promise<boolean> =>
    (await client.query('select pg_is_in_recovery() as yes')).rows[0].yes;
  await until(isRecovering, (yes) => !yes);
  await client.end();
  return { cluster, env: { ...env, TALLY_DATABASE_URL: urlOf(cluster) } };
}

async function stop(cluster: PostgresCluster): Promise<void> {
  await cluster.stop('immediate');
  running.delete(cluster);
  rmSync(cluster.data, { recursive: true });
}

describe('tally backup of PostgreSQL', () => {
  const backup = (more: Env = {}) => tally(['backup', base], { ...env, ...more });

  it('says what is missing: the right, the archive, the program', async () => {
    expect(await backup()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('alter role "tally" replication'),
    });
    await admin.query('alter role tally replication');
    expect(await backup()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not archive its WAL'),
    });
    await restart(
      'alter system set archive_mode = on',
      `alter system set archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'`,
    );
    const { code, stderr } = await backup({ PATH: '' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no program pg_basebackup here.')]);
    expect(existsSync(base)).toBe(false);
  });

  it('says why PostgreSQL’s own program failed, without the password', async () => {
    await admin.query('alter system set max_wal_senders = 0');
    await restart();
    const { code, stderr } = await backup();
    expect([code, stderr]).toEqual([1, expect.stringContaining('pg_basebackup failed: ')]);
    expect(stderr).not.toContain(PASSWORD);
    await restart('alter system reset max_wal_senders');
  });

  it('copies the server while it is written, and leaves a folder that PostgreSQL finds complete', async () => {
    const server = await serve(env);
    key = await createKey('scale', env);
    await extend(server, early);
    const writing = extend(server, early);
    expect(await backup()).toMatchObject({ code: 0, stderr: expect.stringContaining('a base backup of') });
    await writing;
    execFileSync(join(postgresPrograms(), 'pg_verifybackup'), ['--quiet', base]);
    expect(await backup()).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
    await extend(server, early);
    point = (await admin.query('select clock_timestamp()::text as now')).rows[0].now;
    for (let count = 0; count < 5; count++) await late.mint(server.url);
    await server.kill('SIGTERM');
    await archiveAll();
  });
});

describe('a backup that is restored to a point in time', () => {
  it('has everything acknowledged before it, nothing after it, and serves', async () => {
    const restored = await restore('restored', point);
    expect(await fsck(restored.env, chain.anvil.rpcUrl)).toMatchObject({
      ...SOUND,
      leaves: early.placed.answered,
    });
    expect(await tally(['ledger', 'check'], restored.env)).toMatchObject({ code: 0 });
    const server = await serve(restored.env);
    await early.expectKept(server.url);
    await late.expectUnknown(server.url);
    await server.kill('SIGTERM');
    await stop(restored.cluster);
  });

  it('does not run once the chain has a later root: it would sign a second history', async () => {
    const server = await serve(env);
    await extend(server, late);
    await server.kill('SIGTERM');
    await archiveAll();

    const restored = await restore('behind', point);
    const signed = async (): Promise<number> => (await fsck(restored.env)).checkpoints;
    const before = await signed();
    await expect(serve(restored.env)).rejects.toThrow(
      /has sent \d+ transactions, but this database knows of \d+: it is an older copy/,
    );
    expect(await signed()).toBe(before);
    await stop(restored.cluster);
  });

  it('goes on from the end of the archive, with all that was ever acknowledged', async () => {
    const restored = await restore('newest', null);
    const server = await serve(restored.env);
    await early.expectKept(server.url);
    await late.expectKept(server.url);
    await extend(server, late);
    await server.kill('SIGTERM');
    expect(await fsck(restored.env, chain.anvil.rpcUrl)).toMatchObject({
      ...SOUND,
      leaves: early.placed.answered + late.placed.answered,
    });
    await stop(restored.cluster);
  });
});
