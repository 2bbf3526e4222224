import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../packages/server/test/postgres.ts';
import { createKey, type Key, until } from '../log-client.ts';
import { type Env, type Served, serve, temporaryFolder } from '../process.ts';
import {
  expectBooksAgree,
  expectStatusIsGreen,
  Load,
  untilReady,
  untilStatusIsRed,
  untilUnready,
} from './load.ts';

const STOPPED_MS = 20_000;

let postgres: TestPostgres;
let env: Env;
let key: Key;
let service: Served;
let rpcUrl: string;

beforeAll(async () => {
  const dataDir = temporaryFolder();
  postgres = await startPostgres();
  env = {
    TALLY_DATABASE_URL: await postgres.url('stops'),
    TALLY_DATA_DIR: dataDir,
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
    TALLY_PAYMENTS: 'x402',
    TALLY_X402_WAIT_SECONDS: '5',
  };
  service = await serve(env);
  rpcUrl = readFileSync(join(dataDir, 'devnet/rpc-url'), 'utf8').trim();
  key = await createKey('scale', env);
});
afterAll(() => postgres?.stop());

async function loaded(name: string): Promise<Load> {
  const load = new Load(name, key);
  load.start(service, rpcUrl);
  await until(
    async () => load,
    ({ placed, paid }) => placed > 20 && paid > 2,
  );
  return load;
}

async function expectRecovered(load: Load): Promise<void> {
  await untilReady(service.url);
  const { paid } = load;
  await until(
    async () => load.paid,
    (now) => now > paid,
  );
  await load.stop();
  await load.expectKept(service, env, rpcUrl);
  await expectBooksAgree(env);
}

describe('a database', () => {
  it('that stands still for 20 seconds: nothing acknowledged is lost, and it goes on by itself', async () => {
    const load = await loaded('stopped');
    const standing = setTimeout(STOPPED_MS);
    postgres.signal('SIGSTOP');
    try {
      await Promise.all([untilUnready(service.url), untilStatusIsRed(service.url)]);
      await standing;
    } finally {
      postgres.signal('SIGCONT');
    }
    await expectRecovered(load);
  });

  it('that is killed and started again: nothing acknowledged is lost, and it goes on by itself', async () => {
    const load = await loaded('killed');
    postgres.signal('SIGKILL');
    await Promise.all([untilUnready(service.url), untilStatusIsRed(service.url)]);
    await postgres.restart();
    await expectRecovered(load);
    await expectStatusIsGreen(service.url);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });
});
