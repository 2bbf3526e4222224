import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPostingKey } from '@tallystick/chain';
import { toBase64url } from '@tallystick/core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  bytesOf,
  createKey,
  fsck,
  hashOf,
  type Key,
  logKeyOf,
  metric,
  Placed,
  place,
  SOUND,
  until,
  untilAnchored,
  untilSigned,
} from './log-client.ts';
import { LogWatch, rootsOf } from './log-watch.ts';
import { type Fate, type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Ended, type Env, type Served, serve, temporaryFolder } from './process.ts';
import { drawing } from './random.ts';

/** When the process is killed: at a request to the chain, or when the newest posting is seen in a state. */
type Moment =
  | { readonly method: string; readonly fate: Exclude<Fate, 'pass'> }
  | { readonly state: PostingState };

type PostingState = 'queued' | 'broadcast' | 'confirmed' | 'finalized';

interface Crash {
  readonly moment: Moment;
  /** The state of the newest posting that the process leaves behind. */
  readonly left: 'nothing' | PostingState;
  /** The chain makes no blocks before the process has ended. */
  readonly held?: boolean;
  /** What happens on the chain until the next start, beside that it makes blocks again. */
  readonly meanwhile?: string;
  /** Blocks until a posting is final. */
  readonly finality?: number;
}

const SEND = 'eth_sendRawTransaction';
const crashes: Record<string, Crash> = {
  'a batch is closed and nothing queued': {
    moment: { method: 'eth_maxPriorityFeePerGas', fate: 'refuse' },
    left: 'nothing',
  },
  'queued and not sent': { moment: { method: SEND, fate: 'refuse' }, left: 'queued' },
  'sent and in a block, not yet known here': { moment: { method: SEND, fate: 'lose' }, left: 'queued' },
  'sent and in no block, not yet known here': {
    moment: { method: SEND, fate: 'lose' },
    left: 'queued',
    held: true,
  },
  'broadcast and in no block': { moment: { state: 'broadcast' }, left: 'broadcast', held: true },
  'broadcast, and put in a block meanwhile': {
    moment: { state: 'broadcast' },
    left: 'broadcast',
    held: true,
    meanwhile: 'evm_mine',
  },
  'broadcast, and forgotten by the node meanwhile': {
    moment: { state: 'broadcast' },
    left: 'broadcast',
    held: true,
    meanwhile: 'anvil_dropAllTransactions',
  },
  'in a block, which is not yet stored': {
    moment: { method: 'eth_getTransactionReceipt', fate: 'lose' },
    left: 'broadcast',
  },
  'confirmed and not final': { moment: { state: 'confirmed' }, left: 'confirmed', finality: 3 },
  final: { moment: { state: 'finalized' }, left: 'finalized' },
};

const COUNT = 5;
/** Hashes of before the crash, and of after it. */
const early = Array.from({ length: COUNT }, (_, at) => hashOf(`early ${at}`));
const late = Array.from({ length: COUNT }, (_, at) => hashOf(`late ${at}`));

/** The data of a log that has never run with a chain, which every test starts from. */
const template = temporaryFolder();
let key: Key;
beforeAll(async () => {
  const env = { TALLY_DATA_DIR: template, TALLY_DEVNET: 'off', TALLY_LOG_ORIGIN: 'log.example' };
  const service = await serve(env);
  key = await createKey('scale', env);
  await service.kill('SIGTERM');
  createPostingKey(join(template, 'posting.key'));
});

interface Log {
  readonly env: Env;
  readonly chain: PostingChain;
  readonly watch: LogWatch;
  start(): Promise<Served>;
}

async function newLog(finality = 1): Promise<Log> {
  const dataDir = temporaryFolder();
  cpSync(template, dataDir, { recursive: true });
  const chain = await startPostingChain(dataDir);
  const env = {
    ...chain.env,
    TALLY_DATA_DIR: dataDir,
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
    TALLY_CHAIN_FINALITY: String(finality),
  };
  const watch = new LogWatch();
  const start = async (): Promise<Served> => {
    const service = await serve(env);
    watch.follow(service.url);
    return service;
  };
  return { env, chain, watch, start };
}

async function killAt(moment: Moment, service: Served, chain: PostingChain): Promise<Ended> {
  if ('state' in moment) {
    const name = `anchor_posting_state{state="${moment.state}"}`;
    await until(
      () => metric(service.url, name),
      (value) => value === 1,
    );
    return service.kill('SIGKILL');
  }
  const ended = await new Promise<Ended>((resolve) => {
    chain.decide = (asked) => {
      if (asked !== moment.method) return 'pass';
      resolve(service.kill('SIGKILL'));
      return moment.fate;
    };
  });
  chain.decide = () => 'pass';
  return ended;
}

interface Row {
  readonly size: number;
  readonly root: Uint8Array;
  readonly batch_at: number;
  readonly state: string;
  readonly tx_hash: string;
}

function postingsOf({ TALLY_DATA_DIR = '' }: Env): Row[] {
  const connection = new DatabaseSync(join(TALLY_DATA_DIR, 'tally.db'), { readOnly: true });
  const rows = connection.prepare('select * from postings order by sequence').all();
  connection.close();
  return rows as unknown as Row[];
}

/** The chain has each posting once, with the root of the accepted hashes; and no two are of one batch. */
async function expectPostedOnce({ env, chain }: Log, hashes: readonly string[]): Promise<Row[]> {
  const rows = postingsOf(env);
  const roots = rootsOf(
    hashes.map(bytesOf),
    rows.map(({ size }) => size),
  );
  expect(await chain.posted()).toEqual(
    rows.map(({ tx_hash, size }, nonce) => ({ txHash: tx_hash, nonce, size, root: roots.get(size) })),
  );
  expect(new Set(rows.map(({ batch_at }) => batch_at)).size).toBe(rows.length);
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['finalized']));
  return rows;
}

const ROUNDS = 3;
const WRITERS = 4;

/** Writers that hand in hashes as fast as they are answered, until the process is killed after so many answers. */
async function killUnderLoad(service: Served, placed: Placed, answers: number): Promise<void> {
  let left = answers;
  const enough = Promise.withResolvers<void>();
  const writer = async (): Promise<void> => {
    for (;;) {
      await placed.placeSome(service.url, key, 20);
      left -= 1;
      if (left === 0) enough.resolve();
    }
  };
  const broken = Promise.allSettled(Array.from({ length: WRITERS }, writer));
  await enough.promise;
  await service.kill('SIGKILL');
  for (const outcome of await broken) {
    expect(outcome).toMatchObject({ reason: { message: expect.stringMatching(/fetch failed|terminated/) } });
  }
}

describe.concurrent('a log outlives kill -9 when a posting is', () => {
  it.each(Object.entries(crashes))('%s', async (_, crash) => {
    const { moment, left, held, meanwhile, finality } = crash;
    const log = await newLog(finality);
    const { chain, watch, env } = log;
    if (held) await chain.anvil.rpc('evm_setAutomine', false);
    let service = await log.start();
    const killed = killAt(moment, service, chain);
    expect(await place(service.url, key, early)).toEqual(early.keys().toArray());
    expect(await killed).toMatchObject({ signal: 'SIGKILL' });
    expect(postingsOf(env).at(-1)?.state ?? 'nothing').toBe(left);
    if (meanwhile !== undefined) await chain.anvil.rpc(meanwhile);

    service = await log.start();
    const all = [...late, ...early];
    expect(await place(service.url, key, all)).toEqual(all.map((_, at) => (at + COUNT) % all.length));
    // Blocks from now on, whether or not there is anything to put in them.
    await chain.anvil.rpc('evm_setIntervalMining', 1);
    await untilAnchored(service.url, 2 * COUNT);
    expect(await place(service.url, key, all)).toEqual(all.map((_, at) => (at + COUNT) % all.length));

    const placed = [...early, ...late];
    const postings = (await expectPostedOnce(log, placed)).length;
    expect(postings).toBeLessThanOrEqual(2);
    await watch.stop();
    await watch.expectOneTree(await logKeyOf(service.url), placed.map(bytesOf));
    await service.kill('SIGTERM');
    expect(await fsck(env, chain.anvil.rpcUrl)).toMatchObject({ ...SOUND, leaves: 2 * COUNT, postings });
  });

  it('anything, under load', async () => {
    const log = await newLog();
    const placed = new Placed('load');
    const random = drawing('answers before a kill');
    for (let round = 0; round < ROUNDS; round++) {
      const service = await log.start();
      await placed.repeat(service.url, key);
      // The lease of the process that was killed has run out once this one signs.
      await placed.place(service.url, key, 1);
      await untilSigned(service.url, placed.answered);
      await killUnderLoad(service, placed, 20 + random.below(200));
    }
    const service = await log.start();
    await placed.repeat(service.url, key);
    await untilAnchored(service.url, placed.hashes.length);
    await log.watch.stop();
    await log.watch.expectOneTree(await logKeyOf(service.url), placed.hashes);
    const hashes = placed.hashes.map((hash) => toBase64url(hash));
    const postings = await expectPostedOnce(log, hashes);
    await service.kill('SIGTERM');
    expect(await fsck(log.env, log.chain.anvil.rpcUrl)).toMatchObject({
      ...SOUND,
      leaves: hashes.length,
      postings: postings.length,
    });
  });
});
