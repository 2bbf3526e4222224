import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { Acknowledged } from './acknowledged.ts';
import { fsck, type Key, metric, SOUND, until, untilAnchored } from './log-client.ts';
import { hasNeighbour, unpackNeighbour } from './neighbour.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, type Served, serve, tally, temporaryFolder } from './process.ts';

/** On a busy machine the database may not answer in time. What was sent then is sent again later. */
function expectUnavailable(error: unknown): void {
  expect(String(error)).toContain('"code":"unavailable"');
}

const leads = async ({ url }: Served): Promise<boolean> => (await metric(url, 'anchor_log_leading')) === 1;

describe.skipIf(!hasNeighbour())('the release before this one (skipped where the history lacks it)', () => {
  let postgres: TestPostgres;
  let chain: PostingChain;
  let env: Env;
  let key: Key;
  let program: string;
  let database: Client;
  let older: Served;
  let newer: Served;
  const byOlder = new Acknowledged('older');
  const byNewer = new Acknowledged('newer');

  beforeAll(async () => {
    const dataDir = temporaryFolder();
    program = unpackNeighbour();
    [postgres, chain] = await Promise.all([startPostgres(), startPostingChain(dataDir)]);
    const url = await postgres.url('shared');
    database = new Client({ connectionString: url });
    await database.connect();
    env = {
      ...chain.env,
      TALLY_DATABASE_URL: url,
      TALLY_DATA_DIR: dataDir,
      TALLY_KEYRING: join(dataDir, 'keyring.json'),
      TALLY_LOG_ORIGIN: 'log.example',
      TALLY_ANCHOR_PERIOD_SECONDS: '1',
    };
  });
  afterAll(async () => {
    await database?.end();
    await postgres?.stop();
  });

  const schemaVersion = async (): Promise<number> =>
    Number((await database.query('select max(version) as newest from schema_migrations')).rows[0].newest);

  /** Mints and anchors on a server until `stop`, which waits for the last answer. */
  function load(server: Served, acknowledged: Acknowledged): { stop(): Promise<void> } {
    const stopping = new AbortController();
    const writing = (async () => {
      while (!stopping.signal.aborted) {
        await acknowledged.mint(server.url);
        await acknowledged.placed.placeSome(server.url, key, 5).catch(expectUnavailable);
      }
    })();
    return {
      stop: async () => {
        stopping.abort();
        await writing;
      },
    };
  }

  const placed = (): number => byOlder.placed.answered + byNewer.placed.answered;

  it('goes on while this one changes the schema, and both serve and anchor on one database', async () => {
    older = await serve(env, 'pipe', program);
    expect(await schemaVersion()).toBe(9);
    // The older release makes the key, because a command of the newer one would change the schema.
    const made = await tally(['apikey', 'create', '--tier', 'scale', '--json'], env, program);
    key = { authorization: `Bearer ${(JSON.parse(made.stdout) as { key: string }).key}` };
    const olderLoad = load(older, byOlder);
    await until(
      async () => byOlder.receipts,
      (count) => count > 5,
    );
    newer = await serve(env);
    expect(await schemaVersion()).toBeGreaterThan(9);
    const newerLoad = load(newer, byNewer);
    const seen = byOlder.receipts;
    await until(
      async () => [byOlder.receipts, byNewer.receipts],
      ([a = 0, b = 0]) => a > seen + 10 && b > 10,
    );
    await expect.poll(() => leads(older)).toBe(true);
    await Promise.all([olderLoad.stop(), newerLoad.stop()]);
    await byOlder.expectPlaced(older.url, key);
    await byNewer.expectPlaced(newer.url, key);
    await untilAnchored(newer.url, placed());
    for (const { url } of [older, newer]) {
      await byOlder.expectKept(url);
      await byNewer.expectKept(url);
    }
  });

  it('hands the log over to this one, which keeps all that either has acknowledged', async () => {
    const under = load(newer, byNewer);
    expect(await older.kill('SIGTERM')).toMatchObject({ code: 0 });
    await until(() => leads(newer), Boolean);
    await under.stop();
    await byOlder.expectPlaced(newer.url, key);
    await byNewer.expectPlaced(newer.url, key);
    await untilAnchored(newer.url, placed());
    await byOlder.expectKept(newer.url);
    await byNewer.expectKept(newer.url);
    expect(await fsck(env, chain.anvil.rpcUrl)).toMatchObject({ ...SOUND, leaves: placed() });
    expect(await tally(['ledger', 'check'], env)).toMatchObject({ code: 0 });
  });

  it('does not start any more, and says why', async () => {
    await expect(serve(env, 'pipe', program)).rejects.toThrow(
      /The database is at schema version \d+, and this release knows only 9/,
    );
  });
});
