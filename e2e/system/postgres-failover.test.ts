import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Load, RECOVERED_SECONDS, untilReady, untilUnready } from '../faults/load.ts';
import { createKey, type Key, logKeyOf, until } from '../log-client.ts';
import { LogWatch } from '../log-watch.ts';
import { type PostingChain, startPostingChain } from '../posting-chain.ts';
import { type Env, post, type Served, serve, temporaryFolder } from '../process.ts';
import { type PostgresCluster, startCluster, startStandby } from './postgres-cluster.ts';

const watch = new LogWatch();
let primary: PostgresCluster;
let standby: PostgresCluster;
let chain: PostingChain;
let env: Env;
let key: Key;
let servers: [Served, Served];

beforeAll(async () => {
  const folder = temporaryFolder();
  [primary, chain] = await Promise.all([startCluster(folder), startPostingChain(folder)]);
  await query(primary, 'postgres', 'create database tally');
  standby = await startStandby(primary, folder, 'standby');
  await query(primary, 'postgres', "alter system set synchronous_standby_names = 'standby'");
  await query(primary, 'postgres', 'select pg_reload_conf()');
  await untilSynchronous();
  env = {
    ...chain.env,
    TALLY_DATABASE_URL: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/tally`,
    TALLY_DATA_DIR: folder,
    TALLY_KEYRING: join(folder, 'keyring.json'),
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
  };
  servers = await Promise.all([serve(env), serve(env)]);
  for (const { url } of servers) watch.follow(url);
  key = await createKey('scale', env);
});
afterAll(async () => {
  await watch.stop();
  // After the failover there is only the standby, and before it ended both.
  for (const cluster of [primary, standby]) await cluster?.stop('immediate').catch(() => undefined);
});

async function query(cluster: PostgresCluster, database: string, sql: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: cluster.url(database) });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

/** Waits until the primary waits for the standby before it acknowledges. */
async function untilSynchronous(): Promise<void> {
  await until(
    () => query(primary, 'postgres', 'select sync_state from pg_stat_replication'),
    (rows) => rows.flat().includes('sync'),
  );
}

const mint = ({ url }: Served) => post(`${url}/v1/receipt/free`, { input: 'once', purpose: 'failover' });

/** Loads on both services, once each of them has got some hashes into the log. */
async function load(): Promise<[Load, Load]> {
  const loads: [Load, Load] = [new Load('first', key), new Load('second', key)];
  for (const [index, one] of loads.entries()) one.start(servers[index] as Served);
  for (const one of loads) await untilPlaced(one, 20);
  return loads;
}

async function untilPlaced(one: Load, more: number): Promise<void> {
  const before = one.placed;
  await until(
    async () => one.placed,
    (placed) => placed > before + more,
    RECOVERED_SECONDS,
  );
}

describe('PostgreSQL with a synchronous standby', () => {
  it('acknowledges nothing that the standby does not have, and goes on when it is back', async () => {
    expect(await mint(servers[0])).toMatchObject({ status: 200 });
    await standby.stop('immediate');
    expect(await mint(servers[0])).toMatchObject({ status: 503 });
    await standby.start();
    await untilSynchronous();
    for (const server of servers) await untilReady(server.url);
    expect(await mint(servers[0])).toMatchObject({ status: 200 });
  });

  it('loses nothing acknowledged and forks no log when the primary is killed and the standby promoted', async () => {
    const loads = await load();
    primary.kill();
    await Promise.all(servers.map(({ url }) => untilUnready(url)));
    await standby.promote();
    for (const server of servers) expect(await untilReady(server.url)).toBe(200);
    await Promise.all(loads.map((one) => untilPlaced(one, 20)));
    for (const one of loads) await one.stop();
    for (const [index, one] of loads.entries())
      await one.expectKept(servers[1 - index] as Served, env, chain.anvil.rpcUrl);
    await watch.stop();
    // Every checkpoint that anybody saw, before and after, is of the leaves as they stand now.
    const leaves = await query(standby, 'tally', 'select hash from leaves order by idx');
    await watch.expectOneTree(
      await logKeyOf(servers[0].url),
      leaves.map(([hash]) => hash as Uint8Array),
    );
  });
});
