import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey, type Key, until, untilAnchored } from '../log-client.ts';
import { type Env, type Served, serve, temporaryFolder } from '../process.ts';
import {
  expectBooksAgree,
  expectStatusIsGreen,
  Load,
  READY_TRUE_SECONDS,
  readiness,
  untilReady,
} from './load.ts';

let env: Env;
let key: Key;
let service: Served;
let devnet: string;

beforeAll(async () => {
  const dataDir = temporaryFolder();
  devnet = join(dataDir, 'devnet');
  env = {
    TALLY_DATA_DIR: dataDir,
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
    TALLY_PAYMENTS: 'x402',
    TALLY_X402_WAIT_SECONDS: '5',
  };
  service = await serve(env);
  key = await createKey('scale', env);
});

const rpcUrl = (): string => readFileSync(join(devnet, 'rpc-url'), 'utf8').trim();
const chainPid = (): number => Number(readFileSync(join(devnet, 'anvil.pid'), 'utf8'));
const guardPid = (): number =>
  Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${chainPid()}/stat`, 'utf8'))?.[1]);

describe('the development chain that the service has started', () => {
  it.each([
    ['is killed', chainPid],
    ['loses the process that keeps it', guardPid],
  ])('%s: it is started again as it was, and postings and payments go on', async (name, victim) => {
    const load = new Load(name, key);
    load.start(service, rpcUrl());
    await until(
      async () => load,
      ({ placed, paid }) => placed > 20 && paid > 2,
    );
    await untilAnchored(service.url, load.placed);
    const ended = chainPid();
    process.kill(victim(), 'SIGKILL');
    // The next chain may run before anybody has looked.
    await until(
      async () => [await readiness(service.url), chainPid()] as const,
      ([status, pid]) => status === 503 || (status === 200 && pid !== ended),
      READY_TRUE_SECONDS,
    );
    await untilReady(service.url);
    const { placed, paid } = load;
    await untilAnchored(service.url, placed + 1);
    await until(
      async () => load.paid,
      (now) => now > paid,
    );
    await load.stop();
    await load.expectKept(service, env, rpcUrl());
    await expectBooksAgree(env);
  });

  it('is told as well in the next status, and ends with the service', async () => {
    await expectStatusIsGreen(service.url);
    expect(await service.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });
});
