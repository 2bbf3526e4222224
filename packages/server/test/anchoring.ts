import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { leafOf, merkleRoot, TallyError } from '@tallystick/core';
import { pino } from 'pino';
import type { Chain } from '../../chain/src/chain.ts';
import { type ChainOptions, openEvmChain } from '../../chain/src/evm.ts';
import type { Finality } from '../../chain/src/reader.ts';
import { type Anchorer, createAnchorer } from '../../log/src/anchorer.ts';
import type { ChainPosting, LogStore, PostingAttempt } from '../../log/src/log-store.ts';
import { openSqliteStore } from '../../store/src/sqlite.ts';
import type { Store } from '../../store/src/store.ts';
import type { TestAnvil } from './anvil.ts';

export const PERIOD = 100;
export const PATIENCE = 60;
export const ORIGIN = 'log.example/anchors';

/** A transaction of the posting account, as the chain has it. */
interface Mined {
  readonly nonce: number;
  readonly input: string;
  readonly hash: string;
}

/** A log with its store, a posting account with funds on an Anvil, an anchorer, and a clock that stands still. */
export interface Anchoring {
  readonly log: LogStore;
  readonly chain: Chain;
  readonly clock: { now: number };
  readonly anchorer: Anchorer;
  readonly secretKey: Uint8Array;
  /** A new anchorer, as after a restart, perhaps on other ways to the store and the chain. */
  restart(through?: { log?: LogStore; chain?: Chain }): Anchorer;
  /** Accepts new hashes for the next batch. */
  accept(count: number): Promise<void>;
  /** Lets `seconds` go by, then takes one step. */
  step(seconds?: number): Promise<void>;
  posting(): Promise<ChainPosting>;
  attempts(): Promise<PostingAttempt[]>;
  /** Every transaction of the account, oldest first. */
  mined(): Promise<Mined[]>;
  close(): Promise<void>;
}

export interface AnchoringOptions {
  readonly anvil: TestAnvil;
  readonly folder: string;
  /** In place of Anvil's own. */
  readonly rpcUrl?: string;
  readonly finality?: Finality;
}

export function openTestChain(options: Pick<ChainOptions, 'rpcUrl' | 'secretKey' | 'finality'>): Chain {
  return openEvmChain({ ...options, chainId: 31_337, network: 'devnet', timeoutMs: 60_000 });
}

export async function openAnchoring(options: AnchoringOptions): Promise<Anchoring> {
  const { anvil, folder, rpcUrl = anvil.rpcUrl, finality = { kind: 'confirmations', count: 1 } } = options;
  const secretKey = randomBytes(32);
  const chain = openTestChain({ rpcUrl, secretKey, finality });
  await anvil.rpc('anvil_setBalance', chain.address, '0xde0b6b3a7640000');
  const since = Number(await anvil.rpc('eth_blockNumber'));
  const store: Store = await openSqliteStore(join(folder, `${randomBytes(6).toString('hex')}.db`));
  const { log } = store;
  const lease = await log.acquireLease('test', 3600);
  if (lease === null) throw new Error('No lease.');
  const { epoch } = lease;
  const clock = { now: 1_800_000_000 };
  const make = (through: { log?: LogStore; chain?: Chain } = {}): Anchorer =>
    createAnchorer({
      log,
      chain,
      ...through,
      origin: ORIGIN,
      clock: () => clock.now * 1000,
      period: PERIOD,
      patience: PATIENCE,
      poll: 0,
      integrateTo: () => integrate(log, epoch),
      logger: pino({ level: 'silent' }),
    });
  let anchorer = make();

  async function posting(): Promise<ChainPosting> {
    const newest = await log.newestPosting();
    if (newest === null) throw new Error('Nothing is posted.');
    return newest;
  }

  return {
    log,
    chain,
    clock,
    secretKey,
    get anchorer() {
      return anchorer;
    },
    restart(through) {
      anchorer = make(through);
      return anchorer;
    },
    async accept(count) {
      const hashes = Array.from({ length: count }, () => randomBytes(32));
      const batchAt = (Math.floor(clock.now / PERIOD) + 1) * PERIOD;
      await log.accept({ hashes, batchAt, quota: null });
    },
    async step(seconds = 0) {
      clock.now += seconds;
      await anchorer.step(epoch);
    },
    posting,
    attempts: async () => log.listAttempts((await posting()).sequence),
    mined: () => minedBy(anvil, chain.address, since),
    close: () => store.close(),
  };
}

/** Puts all leaves under a checkpoint, with neither tiles nor signature. */
async function integrate(log: LogStore, epoch: number): Promise<void> {
  const from = await log.head();
  const leaves = await log.readLeaves(0, await log.countLeaves());
  const hashes = Array.from({ length: leaves.length / 32 }, (_, at) => leaves.slice(at * 32, at * 32 + 32));
  const to = { size: hashes.length, root: merkleRoot(hashes.map(leafOf)) };
  if (to.size > from.size && (await log.advance({ epoch, from, to, tiles: [] })) === 'fenced') {
    throw new TallyError('unavailable', 'Fenced.');
  }
  await log.putCheckpoint(epoch, { ...to, note: `${ORIGIN}\n${to.size}\n` });
}

async function minedBy(anvil: TestAnvil, address: string, since: number): Promise<Mined[]> {
  const mined: Mined[] = [];
  const latest = Number(await anvil.rpc('eth_blockNumber'));
  for (let height = since + 1; height <= latest; height += 1) {
    const block = await anvil.rpc('eth_getBlockByNumber', `0x${height.toString(16)}`, true);
    const { transactions } = block as {
      transactions: { from: string; nonce: string; input: string; hash: string }[];
    };
    for (const { from, nonce, input, hash } of transactions) {
      if (from === address.toLowerCase()) mined.push({ nonce: Number(nonce), input, hash });
    }
  }
  return mined;
}
