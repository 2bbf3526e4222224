import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodePosting, fromHex, TallyError } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anchoring, openAnchoring, PATIENCE, PERIOD } from '../../server/test/anchoring.ts';
import { startAnvil, type TestAnvil } from '../../server/test/anvil.ts';
import type { ChainPosting } from './log-store.ts';

/** What the anchorer takes for a fault of the chain, and so goes on after; a crash ends it. */
const fault = new TallyError('chain_unavailable', 'The test says so.');
const crash = new Error('The process has ended.');

interface Failure {
  readonly after: boolean;
  readonly error: Error;
}

const failures: Record<string, Failure> = {
  'a crash before it has an effect': { after: false, error: crash },
  'a crash after it had its effect': { after: true, error: crash },
  'an error before it has an effect': { after: false, error: fault },
  'an error after it had its effect': { after: true, error: fault },
};

/** A call that fails without an effect leaves all as it was after the last one that had one: so these are enough. */
const effects = new Set(['closeBatch', 'queuePosting', 'addAttempt', 'movePosting', 'broadcast']);

/** Counts the effects of the objects it wraps; the `at`-th call fails, and after a crash all that come after. */
class Fuse {
  calls = 0;
  readonly #at: number;
  readonly #failure: Failure;

  constructor(at: number, failure: Failure) {
    this.#at = at;
    this.#failure = failure;
  }

  get blown(): boolean {
    return this.calls >= this.#at;
  }

  wrap<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (!effects.has(String(name))) return member.bind(target);
        return (...parameters: unknown[]) => this.#call(() => Reflect.apply(member, target, parameters));
      },
    });
  }

  async #call(effect: () => unknown): Promise<unknown> {
    this.calls += 1;
    const { after, error } = this.#failure;
    const fails = this.calls === this.#at || (this.calls > this.#at && error === crash);
    const outcome = fails && !after ? null : await effect();
    if (fails) throw error;
    return outcome;
  }
}

const folder = mkdtempSync(join(tmpdir(), 'tally-crash-'));
let anvil: TestAnvil;

beforeAll(async () => {
  anvil = await startAnvil();
  await anvil.rpc('evm_setAutomine', false);
});
afterAll(async () => {
  await anvil.stop();
  rmSync(folder, { recursive: true });
});

/** What happens while the log posts one or two roots. */
type Story = (rig: Anchoring) => Promise<void>;

const stories: Record<string, Story> = {
  async 'all goes well'(rig) {
    for (let period = 0; period < 2; period += 1) {
      await rig.accept(2);
      await rig.step(PERIOD);
      await anvil.rpc('anvil_mine', '0x2');
      await rig.step(1);
    }
  },
  async 'the fees are raised, and a block is dropped'(rig) {
    await rig.accept(2);
    for (const wait of [PERIOD, PATIENCE]) await rig.step(wait);
    await anvil.rpc('anvil_mine');
    await rig.step(1);
    await anvil.rpc('anvil_reorg', 1, []);
    await anvil.rpc('anvil_dropAllTransactions');
    await rig.step(1);
    await anvil.rpc('anvil_mine');
    await rig.step(1);
  },
  async 'the nonce is used by a foreign transaction'(rig) {
    await rig.accept(2);
    const fees = await rig.chain.fees(new Uint8Array());
    const price = { maxFeePerGas: fees.maxFeePerGas * 20n, maxPriorityFeePerGas: fees.maxFeePerGas * 20n };
    const foreign = await rig.chain.sign(new Uint8Array(), 0, { ...fees, ...price });
    await rig.step(PERIOD);
    await rig.chain.broadcast(foreign.raw);
    await anvil.rpc('anvil_mine', '0x2');
    for (const wait of [1, PATIENCE, 1]) await rig.step(wait);
    await anvil.rpc('anvil_mine', '0x2');
    await rig.step(1);
  },
};

/** Whatever the story left behind, a new anchorer goes on until every hash is under a final root. */
async function recover(rig: Anchoring): Promise<ChainPosting[]> {
  rig.restart();
  const leaves = await rig.log.countLeaves();
  for (let step = 0; step < 12; step += 1) {
    await anvil.rpc('anvil_mine');
    await rig.step(PATIENCE);
    const newest = await rig.log.newestPosting();
    if (newest?.state === 'finalized' && newest.size === leaves) break;
  }
  const postings: ChainPosting[] = [];
  for await (const posting of rig.log.listPostings()) postings.push(posting);
  return postings;
}

/** Tells the story with the fuse between the anchorer and all that it uses. Answers how many effects there were. */
async function tell(story: Story, fuse: Fuse): Promise<number> {
  const rig = await openAnchoring({ anvil, folder, finality: { kind: 'confirmations', count: 2 } });
  try {
    rig.restart({ log: fuse.wrap(rig.log), chain: fuse.wrap(rig.chain) });
    await story(rig).catch((error: unknown) => {
      if (error !== crash) throw error;
    });
    const { calls } = fuse;
    await rig.accept(1);
    await expectPostedOnce(rig, await recover(rig));
    return calls;
  } finally {
    await rig.close();
  }
}

/** Every accepted hash is under a final root, and the chain has each root in one transaction. */
async function expectPostedOnce(rig: Anchoring, postings: readonly ChainPosting[]): Promise<void> {
  expect(postings.map(({ state }) => state)).toEqual(postings.map(() => 'finalized'));
  expect(postings.at(-1)?.size).toBe(await rig.log.countLeaves());
  const roots = (await rig.mined()).flatMap(({ input, hash, nonce }) => {
    const posted = decodePosting(fromHex(input.slice(2)));
    return posted === null ? [] : [{ size: posted.size, root: posted.root, txHash: hash, nonce }];
  });
  expect(roots).toEqual(
    postings.map(({ size, root, place, nonce }) => ({ size, root, txHash: place?.txHash, nonce })),
  );
}

describe.each(Object.entries(stories))('when %s', (_, story) => {
  it.each(Object.entries(failures))('every effect survives %s', async (_, failure) => {
    const calls = await tell(story, new Fuse(Number.POSITIVE_INFINITY, failure));
    expect(calls).toBeGreaterThan(6);
    for (let at = 1; at <= calls; at += 1) {
      const fuse = new Fuse(at, failure);
      await tell(story, fuse);
      expect(fuse.blown).toBe(true);
    }
  });
});
