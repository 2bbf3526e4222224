import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODELS_FILE } from '../../packages/server/test/models.ts';
import { startUpstream, type Upstream } from '../../packages/server/test/upstream.ts';
import { claimSuite } from '../../packages/store/test/claim-suite.ts';
import { ledgerSuite } from '../../packages/store/test/ledger-suite.ts';
import { logTreeSuite } from '../../packages/store/test/log-tree-suite.ts';
import { storeSuite } from '../../packages/store/test/store-suite.ts';
import { streamSuite } from '../../packages/store/test/stream-suite.ts';
import type { CreateDatabase } from '../../packages/store/test/test-database.ts';
import { Load } from '../faults/load.ts';
import { createKey, statusOf, until } from '../log-client.ts';
import { type PostingChain, startPostingChain } from '../posting-chain.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from '../process.ts';
import { type Pgbouncer, startPgbouncer } from './pgbouncer.ts';
import { type PostgresCluster, startCluster } from './postgres-cluster.ts';
import { execute, storeDatabases } from './store-databases.ts';

const CHAT = '/v1/compute/chat/completions';
const BODY = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Say it.' }] };
const CALLS = 40;
/** What half of these calls, at 0.0000063 USDC each, leave of 1 USDC. */
const LEFT = '0.999874';

const folder = temporaryFolder();
let cluster: PostgresCluster;
let pgbouncer: Pgbouncer;

beforeAll(async () => {
  cluster = await startCluster(folder, { settings: 'fsync = off\n' });
  // Each test has a database of its own, whose connections would otherwise stay open for ten minutes.
  pgbouncer = await startPgbouncer(cluster, folder, 'server_idle_timeout = 1\n');
});
afterAll(async () => {
  await pgbouncer?.stop();
  await cluster?.stop('immediate');
});

describe('the store behind pgbouncer in transaction mode', () => {
  let createDatabase: CreateDatabase;
  beforeAll(async () => {
    createDatabase = await storeDatabases(cluster, pgbouncer.url);
  });

  // What a pooler could break is sessions, locks and transactions: these have most of them.
  for (const suite of [storeSuite, logTreeSuite, ledgerSuite, claimSuite, streamSuite])
    suite('it', () => createDatabase());
});

describe('two services behind pgbouncer in transaction mode', () => {
  let upstream: Upstream;
  let chain: PostingChain;
  let env: Env;
  let servers: [Served, Served];

  beforeAll(async () => {
    [upstream, chain] = await Promise.all([startUpstream(), startPostingChain(folder)]);
    await execute(cluster.url('postgres'), 'create database services');
    env = {
      ...chain.env,
      TALLY_DATABASE_URL: pgbouncer.url('services'),
      TALLY_DATA_DIR: folder,
      TALLY_KEYRING: join(folder, 'keyring.json'),
      TALLY_LOG_ORIGIN: 'log.example',
      TALLY_ANCHOR_PERIOD_SECONDS: '1',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      TALLY_CONFIG: MODELS_FILE,
      OPENAI_API_KEY: 'sk-operator',
    };
    // Both find an empty database: the tables are made through pgbouncer too.
    servers = await Promise.all([serve(env), serve(env)]);
  });
  afterAll(() => upstream?.close());

  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await tally(args, env);
    expect(code, stderr).toBe(0);
    return stdout;
  };

  it('keep what they acknowledge, and one sound log', async () => {
    const key = await createKey('scale', env);
    const loads = servers.map((server, index) => {
      const load = new Load(`load ${index}`, key);
      load.start(server);
      return load;
    });
    for (const load of loads)
      await until(
        async () => load.placed,
        (placed) => placed > 50,
      );
    for (const load of loads) await load.stop();
    for (const [index, load] of loads.entries())
      await load.expectKept(servers[1 - index] as Served, env, chain.anvil.rpcUrl);
    expect((await statusOf(servers[0].url)).accepted).toBeGreaterThanOrEqual(100);
  });

  it('bill every call once, list it, and refuse a revoked key', async () => {
    const { id, key } = JSON.parse(await done('apikey', 'create', '--tier', 'pro', '--json')) as {
      id: string;
      key: string;
    };
    await done('ledger', 'credit', id, '1');
    const headers = { authorization: `Bearer ${key}` };
    const replies = await Promise.all(
      Array.from({ length: CALLS }, (_, index) =>
        post(`${servers[index % 2]?.url}${CHAT}`, BODY, {
          ...headers,
          'idempotency-key': `${index % (CALLS / 2)}`,
        }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const list = async ({ url }: Served): Promise<unknown[]> => {
      const answer = await fetch(`${url}/v1/compute/calls`, { headers });
      return ((await answer.json()) as { data: unknown[] }).data;
    };
    for (const server of servers)
      await until(
        () => list(server),
        ({ length }) => length === CALLS / 2,
      );
    expect(JSON.parse(await done('ledger', 'balance', id, '--json'))).toMatchObject({ balance: LEFT });
    await done('ledger', 'check');
    await done('apikey', 'revoke', id);
    for (const { url } of servers)
      await until(
        async () => (await fetch(`${url}/v1/compute/calls`, { headers })).status,
        (status) => status === 401,
      );
  });

  it('end in order', async () => {
    for (const server of servers) expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 });
  });
});
