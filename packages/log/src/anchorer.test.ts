import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodePosting, toHex } from '@tallystick/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Anchoring,
  type AnchoringOptions,
  ORIGIN,
  openAnchoring,
  openTestChain,
  PATIENCE,
  PERIOD,
} from '../../server/test/anchoring.ts';
import { startAnvil, type TestAnvil } from '../../server/test/anvil.ts';
import { type RpcServer, startRpcProxy } from '../../server/test/rpc-server.ts';
import type { ChainPosting } from './log-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-anchorer-'));
const finality = { kind: 'confirmations', count: 1 } as const;
const calldata = ({ size, root }: ChainPosting) =>
  `0x${toHex(encodePosting({ origin: ORIGIN, size, root }))}`;

let anvil: TestAnvil;
let rig: Anchoring;
let proxy: RpcServer | undefined;
/** Whether the proxy lets the answer to a method through. */
let through: (method: string) => boolean;

async function open(options: Partial<AnchoringOptions> = {}): Promise<Anchoring> {
  await rig?.close();
  rig = await openAnchoring({ anvil, folder, ...options });
  return rig;
}

async function openThroughProxy(): Promise<RpcServer> {
  proxy = await startRpcProxy(anvil.rpcUrl, (method) => through(method));
  await open({ rpcUrl: proxy.url });
  return proxy;
}

const mine = (blocks = 1) => anvil.rpc('anvil_mine', `0x${blocks.toString(16)}`);

/** A transaction of the posting account that is not the log's. */
async function sendForeign(nonce: number, times = 1n): Promise<void> {
  const fees = await rig.chain.fees(new Uint8Array());
  const maxPriorityFeePerGas = fees.maxPriorityFeePerGas * times;
  const price = { maxFeePerGas: fees.maxFeePerGas * times, maxPriorityFeePerGas };
  const signed = await rig.chain.sign(new Uint8Array(), nonce, { ...fees, ...price });
  expect(await rig.chain.broadcast(signed.raw)).toEqual({ kind: 'accepted' });
}

/** Steps until the newest posting is final; an endless loop ends with the assertion. */
async function finish(): Promise<ChainPosting> {
  for (let step = 0; step < 10 && (await rig.posting()).state !== 'finalized'; step += 1) {
    await mine();
    await rig.step(1);
  }
  const posting = await rig.posting();
  expect(posting).toMatchObject({ state: 'finalized', finalizedAt: expect.any(Number) });
  expect(rig.anchorer.problem()).toBeNull();
  return posting;
}

/** The chain has this posting's data once, and the store says where. */
async function expectPostedOnce(posting: ChainPosting): Promise<void> {
  const mined = (await rig.mined()).filter(({ input }) => input === calldata(posting));
  expect(mined).toHaveLength(1);
  expect(posting.place?.txHash).toBe(mined[0]?.hash);
  expect(posting.nonce).toBe(mined[0]?.nonce);
}

beforeAll(async () => {
  anvil = await startAnvil();
  // Blocks are mined when a test says so: Anvil's own mining is not done when a broadcast is answered.
  await anvil.rpc('evm_setAutomine', false);
});
afterAll(async () => {
  await rig.close();
  await anvil.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  through = () => true;
  await open();
});
afterEach(async () => {
  await proxy?.close();
  proxy = undefined;
});

describe('the anchorer', () => {
  it('posts the root once its batch is due, and not before', async () => {
    await rig.accept(3);
    await rig.step();
    await rig.step(PERIOD - 1);
    expect(await rig.log.newestPosting()).toBeNull();
    await rig.step(1);
    expect(await rig.posting()).toMatchObject({
      sequence: 1,
      size: 3,
      nonce: 0,
      state: 'broadcast',
      place: null,
    });
    await mine();
    await rig.step(1);
    const posting = await rig.posting();
    expect(posting).toMatchObject({
      state: 'finalized',
      batchAt: rig.clock.now - 1,
      finalizedAt: rig.clock.now,
    });
    expect(posting.place).toEqual({
      txHash: (await rig.mined())[0]?.hash,
      blockHeight: Number(await anvil.rpc('eth_blockNumber')),
      blockHash: await rig.chain.blockHash(posting.place?.blockHeight ?? 0),
      blockTime: expect.any(Number),
    });
    await expectPostedOnce(posting);
  });

  it('posts nothing while the log does not grow, and again when it does', async () => {
    await rig.accept(1);
    await rig.step(PERIOD);
    await mine();
    await rig.step(1);
    await rig.step(10 * PERIOD);
    expect(await rig.mined()).toHaveLength(1);
    await rig.accept(1);
    await rig.step(PERIOD);
    await mine();
    await rig.step(1);
    expect(await rig.posting()).toMatchObject({ sequence: 2, size: 2, nonce: 1, state: 'finalized' });
  });

  it('does not post early what came after the last batch', async () => {
    await rig.accept(1);
    await rig.step(PERIOD);
    await mine();
    await rig.step(1);
    await rig.accept(1);
    rig.restart();
    await rig.step(1);
    expect(await rig.posting()).toMatchObject({ sequence: 1 });
  });

  it('waits for finality as configured', async () => {
    await open({ finality: { kind: 'confirmations', count: 3 } });
    await rig.accept(1);
    await rig.step(PERIOD);
    await mine();
    await rig.step(1);
    expect(await rig.posting()).toMatchObject({ state: 'confirmed', finalizedAt: null });
    await rig.accept(1);
    await mine();
    await rig.step(PERIOD);
    expect(await rig.posting()).toMatchObject({ state: 'confirmed', sequence: 1 });
    expect(rig.anchorer.problem()).toBeNull();
    await mine();
    await rig.step(1);
    expect(await rig.posting()).toMatchObject({ sequence: 2, size: 2, nonce: 1 });
  });

  it('does nothing once another process leads', async () => {
    await rig.accept(1);
    await rig.log.releaseLease('test');
    await rig.log.acquireLease('other', 3600);
    await rig.step(PERIOD);
    expect(await rig.log.newestPosting()).toBeNull();
  });
});

describe('trouble with the chain', () => {
  it('an answer lost after the broadcast: the transaction is found, not sent twice', async () => {
    const { asked } = await openThroughProxy();
    through = (method) => method !== 'eth_sendRawTransaction';
    await rig.accept(1);
    await rig.step(PERIOD);
    expect(await rig.posting()).toMatchObject({ state: 'queued' });
    expect(rig.anchorer.problem()).toMatch(/eth_sendRawTransaction/);
    await mine();
    await rig.step(1);
    await expectPostedOnce(await finish());
    expect(asked.filter((method) => method === 'eth_sendRawTransaction')).toHaveLength(1);
  });

  it('an answer lost while the transaction is pending: the same is sent again', async () => {
    const { asked } = await openThroughProxy();
    through = (method) => method !== 'eth_sendRawTransaction';
    await rig.accept(1);
    await rig.step(PERIOD);
    through = () => true;
    await rig.step(1);
    expect(await rig.posting()).toMatchObject({ state: 'broadcast' });
    expect(asked.filter((method) => method === 'eth_sendRawTransaction')).toHaveLength(2);
    await mine();
    await expectPostedOnce(await finish());
    expect(await rig.attempts()).toHaveLength(1);
  });

  it('a nonce that a foreign transaction has used: another one, once that is final', async () => {
    await open({ finality: { kind: 'confirmations', count: 3 } });
    await rig.accept(2);
    await rig.step(PERIOD);
    await anvil.rpc('anvil_dropTransaction', (await rig.attempts())[0]?.txHash);
    await sendForeign(0);
    for (const wait of [1, PATIENCE]) {
      await mine();
      await rig.step(wait);
      expect(rig.anchorer.problem()).toMatch(/Another transaction has used nonce 0/);
    }
    expect(await rig.attempts()).toHaveLength(1);
    await mine();
    await rig.step(30);
    expect((await rig.attempts()).map(({ nonce }) => nonce)).toEqual([0, 1]);
    expect(await rig.posting()).toMatchObject({ nonce: 1, state: 'broadcast' });
    await mine(3);
    await expectPostedOnce(await finish());
  });

  it('a foreign transaction that a reorganisation drops: the first attempt is taken after all', async () => {
    await open({ finality: { kind: 'confirmations', count: 3 } });
    await rig.accept(2);
    await rig.step(PERIOD);
    await anvil.rpc('anvil_dropTransaction', (await rig.attempts())[0]?.txHash);
    await sendForeign(0);
    await mine();
    await rig.step(1);
    await anvil.rpc('anvil_reorg', 1, []);
    await anvil.rpc('anvil_dropAllTransactions');
    await sendForeign(0);
    await mine(2);
    await rig.step(PATIENCE);
    expect(rig.anchorer.problem()).toMatch(/Another transaction has used nonce 0/);
    expect(await rig.attempts()).toHaveLength(1);
    await anvil.rpc('anvil_reorg', 2, []);
    await anvil.rpc('anvil_dropAllTransactions');
    await rig.step(PATIENCE);
    await mine(3);
    await expectPostedOnce(await finish());
    expect(await rig.mined()).toHaveLength(1);
  });

  it('a foreign transaction of the same nonce that pays more: ours is raised up to it', async () => {
    await sendForeign(0, 2n);
    await rig.accept(1);
    await rig.step(PERIOD);
    for (let step = 0; step < 9 && (await rig.posting()).state === 'queued'; step += 1) await rig.step(1);
    expect(await rig.posting()).toMatchObject({ state: 'broadcast', nonce: 0 });
    const paid = (await rig.attempts()).map(({ maxFeePerGas }) => BigInt(maxFeePerGas));
    expect(paid.length).toBeGreaterThan(2);
    for (const [at, fee] of paid.slice(1).entries())
      expect(fee * 8n).toBeGreaterThanOrEqual((paid[at] ?? 0n) * 9n);
    await mine();
    await expectPostedOnce(await finish());
  });

  it('a transaction that stays pending: dearer attempts of its nonce, up to a bound', async () => {
    await rig.accept(1);
    await rig.step(PERIOD);
    await rig.step(PATIENCE - 1);
    expect(await rig.attempts()).toHaveLength(1);
    await rig.step(1);
    expect(await rig.attempts()).toHaveLength(2);
    for (let step = 0; step < 25; step += 1) await rig.step(PATIENCE);
    const attempts = await rig.attempts();
    expect(attempts.length).toBeLessThan(25);
    expect(new Set(attempts.map(({ nonce }) => nonce))).toEqual(new Set([0]));
    await mine();
    await expectPostedOnce(await finish());
  });

  it('an earlier attempt that is taken in place of the newest', async () => {
    await rig.accept(1);
    await rig.step(PERIOD);
    await rig.step(PATIENCE);
    const [first, second] = await rig.attempts();
    await anvil.rpc('anvil_dropTransaction', second?.txHash);
    await rig.chain.broadcast(first?.raw ?? '');
    await mine();
    const posting = await finish();
    expect(posting.place?.txHash).toBe(first?.txHash);
    expect(await rig.mined()).toHaveLength(1);
  });

  it('a transaction that the pool has dropped is sent again', async () => {
    await rig.accept(1);
    await rig.step(PERIOD);
    await anvil.rpc('anvil_dropTransaction', (await rig.attempts())[0]?.txHash);
    rig.restart();
    await rig.step(1);
    await mine();
    await expectPostedOnce(await finish());
  });

  it('an empty wallet: waits, says so, and posts once there are funds', async () => {
    await anvil.rpc('anvil_setBalance', rig.chain.address, '0x0');
    await rig.accept(1);
    await rig.step(PERIOD);
    expect(rig.anchorer.problem()).toMatch(/send it funds/);
    await rig.accept(1);
    await rig.step(PERIOD);
    expect(await rig.posting()).toMatchObject({ sequence: 1, size: 1, state: 'queued' });
    await anvil.rpc('anvil_setBalance', rig.chain.address, '0xde0b6b3a7640000');
    await rig.step(30);
    await expectPostedOnce(await finish());
    await rig.step(1);
    expect(await finish()).toMatchObject({ sequence: 2, size: 2 });
  });

  it('a reorganisation that drops the block: the same transaction is sent again', async () => {
    await open({ finality: { kind: 'confirmations', count: 3 } });
    await rig.accept(1);
    await rig.step(PERIOD);
    await mine();
    await rig.step(1);
    const before = await rig.posting();
    expect(before.state).toBe('confirmed');
    await anvil.rpc('anvil_reorg', 1, []);
    await anvil.rpc('anvil_dropAllTransactions');
    await rig.step(1);
    expect(await rig.posting()).toMatchObject({ state: 'broadcast', place: null });
    await mine(3);
    const posting = await finish();
    expect(posting.place?.txHash).toBe(before.place?.txHash);
    expect(posting.place?.blockHash).not.toBe(before.place?.blockHash);
    await expectPostedOnce(posting);
  });

  it('a reorganisation that puts the transaction into another block', async () => {
    await open({ finality: { kind: 'confirmations', count: 3 } });
    await rig.accept(1);
    await rig.step(PERIOD);
    await mine();
    await rig.step(1);
    const before = await rig.posting();
    await anvil.rpc('anvil_reorg', 1, []);
    await anvil.rpc('anvil_dropAllTransactions');
    await rig.chain.broadcast((await rig.attempts())[0]?.raw ?? '');
    await mine();
    await rig.step(1);
    const after = await rig.posting();
    expect(after).toMatchObject({ state: 'confirmed', place: { txHash: before.place?.txHash } });
    expect(after.place?.blockHeight).toBe((before.place?.blockHeight ?? 0) + 1);
  });

  it('a node that is down for two periods: the next root covers everything', async () => {
    await openThroughProxy();
    through = () => false;
    for (let hour = 0; hour < 2; hour += 1) {
      await rig.accept(2);
      await rig.step(PERIOD);
      expect(rig.anchorer.problem()).toMatch(/can’t be reached/);
    }
    await rig.accept(2);
    through = () => true;
    await rig.step(PERIOD);
    await expectPostedOnce(await finish());
    expect(await rig.posting()).toMatchObject({ sequence: 1, size: 6 });
    expect(await rig.mined()).toHaveLength(1);
  });

  it('a node that is down is asked less and less often', async () => {
    const { asked } = await openThroughProxy();
    through = () => false;
    await rig.accept(1);
    await rig.step(PERIOD);
    asked.length = 0;
    for (let second = 0; second < 60; second += 1) await rig.step(1);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.length).toBeLessThan(8);
  });

  it('a posting that an earlier key signed is sent, not signed again', async () => {
    await rig.accept(1);
    await rig.step(PERIOD);
    await anvil.rpc('anvil_dropAllTransactions');
    const other = openTestChain({ rpcUrl: anvil.rpcUrl, secretKey: new Uint8Array(32).fill(7), finality });
    await anvil.rpc('anvil_setBalance', other.address, '0xde0b6b3a7640000');
    rig.restart({ chain: other });
    await rig.step(PATIENCE);
    await rig.step(PATIENCE);
    expect(await rig.attempts()).toHaveLength(1);
    await mine();
    await expectPostedOnce(await finish());
    await rig.accept(1);
    await rig.step(PERIOD);
    expect(await rig.posting()).toMatchObject({ sequence: 2, nonce: 0, state: 'broadcast' });
  });
});
