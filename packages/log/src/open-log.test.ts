import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type AnchoredResult,
  batchId,
  leafHash,
  openCheckpoint,
  parseTlogProof,
  readAnchoredResult,
  TallyError,
  toHex,
  verifyConsistency,
  verifyInclusion,
} from '@tallystick/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Chain } from '../../chain/src/chain.ts';
import { nodeEngine } from '../../kit/src/crypto/node-ed25519.ts';
import { hashOf, newLog, newLogStore, overriding } from '../../server/test/log-fixture.ts';
import type { LogSigner } from './log-key.ts';
import type { LogStore } from './log-store.ts';
import { type AnchorLogOptions, anchorLog, assemble, openAnchorLog } from './open-log.ts';
import { directoryStorage } from './storage/directory-storage.ts';
import type { ObjectStorage } from './storage/object-storage.ts';

const START = 1_700_000_003_500;
const quiet = { info() {}, warn() {}, error() {} };

function optionsFor(store: LogStore, log: LogSigner, more: Partial<AnchorLogOptions> = {}): AnchorLogOptions {
  return {
    store,
    signer: log.signer,
    origin: log.origin,
    originIsExplicit: true,
    chain: null,
    chainId: 31_337,
    network: 'devnet',
    period: 10,
    clock: () => START,
    logger: quiet,
    metrics: { published() {}, failed() {} },
    witnesses: [],
    fetch,
    storage: null,
    ...more,
  };
}

/** A log that runs only when a test says so. */
async function manualLog(storage: ObjectStorage | null = null) {
  const { store, file } = await newLogStore();
  const time = { now: START };
  const log = newLog();
  const options = optionsFor(store, log, { clock: () => time.now, storage });
  const parts = assemble(options, log);
  const anchor = anchorLog(options, log.origin, parts);
  await parts.leader.renew();
  const post = async (sequence: number) => {
    const epoch = parts.leader.epoch ?? -1;
    const txHash = `0x${String(sequence).repeat(64)}`;
    const fees = { maxFeePerGas: '1', maxPriorityFeePerGas: '1' };
    const attempt = { sequence, nonce: sequence, txHash, raw: '0x', ...fees, createdAt: 1 };
    await store.queuePosting(
      epoch,
      { sequence, batchAt: 1, ...(await store.head()), nonce: sequence },
      attempt,
    );
    const place = { txHash, blockHeight: 7, blockHash: `0x${'c'.repeat(64)}`, blockTime: 5 };
    await store.movePosting(epoch, sequence, { state: 'confirmed', place, finalizedAt: null });
    return (finalizedAt: number) =>
      store.movePosting(epoch, sequence, { state: 'finalized', place, finalizedAt });
  };
  return { store, file, time, log, anchor, options, ...parts, post };
}

test('a hash is pending until its root is final, then anchored under the first final root that covers it', async () => {
  const { store, anchor, leader, time, post, log } = await manualLog();
  const accepted = await anchor.accept([hashOf(0), hashOf(1), hashOf(0)], null);
  const pending = (id: string) => ({
    anchor_ref: `urn:anchor:pending:${batchId(1_700_000_010)}:${id}`,
    batch_id: batchId(1_700_000_010),
    eta_seconds: 7,
  });
  expect(accepted).toEqual({ kind: 'accepted', results: [pending('0'), pending('1'), pending('0')] });
  await leader.integrate();
  const finalize = await post(1);
  time.now += 60_000;
  expect(await anchor.resolve(await anchor.leaf(1))).toEqual({ ...pending('1'), eta_seconds: 0 });
  expect(await anchor.status()).toMatchObject({
    accepted: 2,
    treeSize: 2,
    anchoredSize: 0,
    overdueSeconds: 53,
    oldestUnanchoredSeconds: 63,
  });

  await finalize(1_700_000_063);
  await leader.renew();
  await anchor.accept([hashOf(2)], null);
  await leader.integrate();
  await (await post(2))(1_700_000_070);
  const result = (await anchor.resolve(await anchor.leaf(1))) as AnchoredResult;
  expect(readAnchoredResult(JSON.parse(JSON.stringify(result)))).toMatchObject({
    anchor_ref: `urn:anchor:devnet:7:0x${'1'.repeat(64)}:1`,
    network: 'devnet',
    block_height: 7,
    leaf_index: 1,
    tree_size: 2,
    verified_at: '2023-11-14T22:14:23Z',
  });
  const checkpoint = await openCheckpoint(result.checkpoint ?? '', log, nodeEngine);
  expect([checkpoint.size, `sha256:${toHex(checkpoint.root)}`]).toEqual([2, result.merkle_root]);
  expect(result.merkle_path).toEqual([`sha256:${toHex(leafHash(hashOf(0)))}`]);
  expect(await anchor.status()).toMatchObject({
    accepted: 3,
    anchoredSize: 3,
    overdueSeconds: 0,
    oldestUnanchoredSeconds: 0,
  });
  const again = await anchor.accept([hashOf(1), hashOf(9)], null);
  expect(again).toMatchObject({ results: [result, { batch_id: batchId(1_700_000_070) }] });
  expect((await store.getLeaf(3))?.hash).toEqual(hashOf(9));
});

test('leaves are answered under their own posting in any order, each looked up once for those that follow', async () => {
  const { store, anchor, leader, post } = await manualLog();
  for (const [sequence, leaves] of [[0, 1, 2].map(hashOf), [3, 4].map(hashOf)].entries()) {
    await anchor.accept(leaves, null);
    await leader.integrate();
    await (await post(sequence + 1))(1_700_000_063);
  }
  const lookedUp = vi.spyOn(store, 'postingOf');
  for (const index of [4, 3, 4, 0, 2, 1, 3, 0]) {
    const result = await anchor.resolve(await anchor.leaf(index));
    expect(result).toMatchObject({ leaf_index: index, tree_size: index < 3 ? 3 : 5 });
  }
  expect(lookedUp.mock.calls).toEqual([[4], [3], [0]]);
});

test('proofs are of the newest checkpoint, and of none before there is one', async () => {
  const { anchor, leader, log } = await manualLog();
  await anchor.accept([hashOf(0), hashOf(1), hashOf(2)], null);
  const missing = expect.objectContaining({ code: 'anchor_not_found' });
  await expect(anchor.tlogProof(await anchor.leaf(2))).rejects.toThrow(missing);
  await expect(anchor.leaf(3)).rejects.toThrow(missing);
  await expect(anchor.find(hashOf(3))).rejects.toThrow(missing);
  expect([await anchor.checkpoint(), await anchor.tile('tile/0/000.p/1')]).toEqual([null, null]);
  await leader.integrate();
  const { index, path, checkpoint } = parseTlogProof(await anchor.tlogProof(await anchor.leaf(2)));
  const { size, root } = await openCheckpoint(checkpoint, log, nodeEngine);
  expect(verifyInclusion({ index, size, leafHash: leafHash(hashOf(2)), path, root })).toBe(true);

  const earlier = { size1: size, root1: root };
  await anchor.accept([hashOf(3)], null);
  await leader.integrate();
  const later = await openCheckpoint((await anchor.checkpoint()) ?? '', log, nodeEngine);
  const claim = { ...earlier, size2: later.size, root2: later.root, path: await anchor.consistency(3, 4) };
  expect(verifyConsistency(claim)).toBe(true);
  await expect(anchor.consistency(3, 5)).rejects.toThrow(expect.objectContaining({ code: 'merkle_range' }));
});

test('tiles and entries stand where tlog-tiles says, inside the newest checkpoint only', async () => {
  const { anchor, leader } = await manualLog();
  await anchor.accept(
    Array.from({ length: 300 }, (_, index) => hashOf(index)),
    null,
  );
  await leader.integrate();
  await anchor.accept([hashOf(300)], null);
  const full = await anchor.tile('tile/0/000');
  expect(full?.length).toBe(8192);
  expect(toHex((await anchor.tile('tile/0/000.p/3')) ?? new Uint8Array(0))).toBe(
    toHex(full?.subarray(0, 96) ?? new Uint8Array(0)),
  );
  expect((await anchor.tile('tile/0/001.p/44'))?.length).toBe(44 * 32);
  expect((await anchor.tile('tile/1/000.p/1'))?.length).toBe(32);
  expect(toHex((await anchor.tile('tile/entries/001.p/2')) ?? new Uint8Array(0))).toBe(
    `0020${toHex(hashOf(256))}0020${toHex(hashOf(257))}`,
  );
  for (const path of [
    'tile/0/001',
    'tile/0/001.p/45',
    'tile/entries/001.p/45',
    'tile/1/000.p/2',
    'tile/2/000.p/1',
    'tile/63/000',
    'tile/0/000.p/256',
    'tile/00/000',
    'tile/0/0',
    '',
  ]) {
    expect(await anchor.tile(path), path).toBeNull();
  }
});

test('a proof that the tiles do not bear out is not given', async () => {
  const { anchor, leader, file } = await manualLog();
  await anchor.accept(
    Array.from({ length: 300 }, (_, index) => hashOf(index)),
    null,
  );
  await leader.integrate();
  const database = new DatabaseSync(file);
  database.exec(
    `update tiles set hashes = cast(x'00' || substr(hashes, 2) as blob) where level = 0 and idx = 0`,
  );
  database.close();
  await expect(anchor.tlogProof(await anchor.leaf(5))).rejects.toThrow(
    expect.objectContaining({ code: 'log_corrupted' }),
  );
});

test('past the quota nothing is placed', async () => {
  const { anchor } = await manualLog();
  const quota = { counter: 'c', limit: 1, expiresAt: 2_000_000_000 };
  expect(await anchor.accept([hashOf(0), hashOf(1)], quota)).toEqual({
    kind: 'over_quota',
    used: 0,
    requested: 2,
  });
  expect((await anchor.status()).accepted).toBe(0);
});

test('no hash is accepted before the gate is open', async () => {
  const { store } = await newLogStore();
  const log = newLog();
  const options = optionsFor(store, log);
  const anchor = anchorLog(options, log.origin, assemble(options, log));
  await expect(anchor.accept([hashOf(0)], null)).rejects.toThrow(
    expect.objectContaining({ code: 'anchor_unavailable' }),
  );
  expect([await anchor.ready(), (await anchor.status()).accepting]).toEqual([
    'ok',
    expect.stringContaining('not yet'),
  ]);
});

test('a log that its chain says is behind does not open; one whose chain is away waits for it', async () => {
  const { store } = await newLogStore();
  const log = newLog();
  const reach = { nonce: async () => 3 };
  const chain = {
    check: async () => {},
    nextNonce: () => reach.nonce(),
    address: '0xA',
  } as Partial<Chain> as Chain;
  const options = optionsFor(store, log, { chain });
  await expect(openAnchorLog(options)).rejects.toThrow(expect.objectContaining({ code: 'log_behind' }));

  reach.nonce = async () => {
    throw new TallyError('chain_unavailable', 'The node is away.');
  };
  const { gate, leader } = assemble(options, log);
  const waiting = await openAnchorLog(options);
  await waiting.close();
  await expect(waiting.accept([hashOf(0)], null)).rejects.toThrow(
    expect.objectContaining({ code: 'anchor_unavailable' }),
  );
  await leader.renew();
  expect([gate.isOpen, leader.epoch]).toEqual([false, null]);
  reach.nonce = async () => 0;
  await leader.renew();
  expect([gate.isOpen, leader.epoch !== null]).toEqual([true, true]);
});

test('the data stay those of one log', async () => {
  const { store } = await newLogStore();
  const log = newLog();
  const first = await openAnchorLog(optionsFor(store, log));
  await first.accept([hashOf(0)], null);
  await first.close();
  const refused = expect.objectContaining({ code: 'log_mismatch' });
  await expect(openAnchorLog(optionsFor(store, log, { origin: 'other.example' }))).rejects.toThrow(refused);
  await expect(openAnchorLog(optionsFor(store, log, { chainId: 1 }))).rejects.toThrow(refused);
  await expect(openAnchorLog(optionsFor(store, newLog()))).rejects.toThrow(refused);
  const derived = { origin: '127.0.0.1:9', originIsExplicit: false };
  const again = await openAnchorLog(optionsFor(store, log, derived));
  expect([again.origin, (await again.status()).leading]).toEqual(['log.example', true]);
  await again.close();
});

test('a first start that a wrong chain refuses leaves the database free for the right one', async () => {
  const { store } = await newLogStore();
  const log = newLog();
  const mismatch = new TallyError(
    'chain_mismatch',
    'The node serves chain 1, but chain 31337 is configured.',
  );
  const chain = {
    check: () => Promise.reject(mismatch),
    nextNonce: async () => 0,
    address: '0xA',
  } as Partial<Chain> as Chain;
  await expect(openAnchorLog(optionsFor(store, log, { chain }))).rejects.toThrow(mismatch);
  expect(await store.identity()).toBeNull();
  const right = await openAnchorLog(
    optionsFor(store, log, { chain: { ...chain, check: async () => {} }, chainId: 1 }),
  );
  expect(await store.identity()).toMatchObject({ chainId: 1 });
  await right.close();
});

describe('a log whose files are in a storage', () => {
  async function storedLog() {
    const folder = mkdtempSync(join(tmpdir(), 'tally-files-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const parts = await manualLog(directoryStorage(folder));
    const grow = async (from: number, to: number): Promise<void> => {
      const hashes = Array.from({ length: to - from }, (_, at) => hashOf(from + at));
      await parts.anchor.accept(hashes, null);
      await parts.leader.integrate();
    };
    return { ...parts, folder, grow };
  }
  const PATHS = [
    'tile/0/000',
    'tile/0/001.p/44',
    'tile/1/000.p/1',
    'tile/entries/000',
    'tile/entries/001.p/44',
  ];

  test('is read without the database, as the database would give it', async () => {
    const { store, options, grow, log } = await storedLog();
    await grow(0, 300);
    const plain = anchorLog(options, log.origin, assemble({ ...options, storage: null }, log));
    const lost = async () => {
      throw new Error('The database was asked.');
    };
    const dead = overriding(store, { newestCheckpoint: lost, getTile: lost, readLeaves: lost });
    const stored = anchorLog({ ...options, store: dead }, log.origin, assemble(options, log));
    expect(await stored.checkpoint()).toBe(await plain.checkpoint());
    // The last two are the start of what is stored.
    for (const path of [...PATHS, 'tile/0/000.p/7', 'tile/entries/000.p/7']) {
      const tile = await stored.tile(path);
      expect(tile?.length, path).toBeGreaterThan(0);
      expect(Buffer.from(tile ?? []), path).toEqual(Buffer.from((await plain.tile(path)) ?? []));
    }
    expect(await stored.tile('tile/0/nothing')).toBeNull();
    await expect(stored.tile('tile/0/001.p/7'), 'which no checkpoint needs').rejects.toThrow('was asked');
  });

  test('is read from the database until they are there', async () => {
    const { anchor, folder, grow } = await storedLog();
    await grow(0, 300);
    const stored = await Promise.all(PATHS.map((path) => anchor.tile(path)));
    const note = await anchor.checkpoint();
    rmSync(folder, { recursive: true });
    expect(await anchor.checkpoint()).toBe(note);
    const plain = await Promise.all(PATHS.map((path) => anchor.tile(path)));
    expect(plain.map((tile) => Buffer.from(tile ?? []))).toEqual(
      stored.map((tile) => Buffer.from(tile ?? [])),
    );
  });

  test('does not tell its readers where a storage is that can’t be read', async () => {
    const { anchor, folder } = await storedLog();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    const tile = (path: string) => () => anchor.tile(path);
    for (const read of [() => anchor.checkpoint(), tile('tile/0/000'), tile('tile/0/000.p/7')]) {
      await expect(read()).rejects.toMatchObject({
        code: 'unavailable',
        message: 'The log’s files can’t be read at the moment. Try again later.',
        cause: { message: `The log’s files in the folder ${folder} cannot be read (ENOTDIR).` },
      });
    }
  });

  test('stops when it finds another file there, and says so', async () => {
    const { anchor, folder, grow } = await storedLog();
    await grow(0, 300);
    expect(await anchor.ready()).toBe('ok');
    writeFileSync(join(folder, 'tile/0/001.p/45'), 'another');
    await expect(grow(300, 301)).rejects.toThrow(expect.objectContaining({ code: 'log_corrupted' }));
    expect(await anchor.ready()).toMatch(/^tile\/0\/001\.p\/45 in the folder .* is another file than/);
    await expect(anchor.accept([hashOf(999)], null)).rejects.toThrow(
      expect.objectContaining({ code: 'anchor_unavailable' }),
    );
    expect(await anchor.status()).toMatchObject({ accepted: 301, treeSize: 300 });
  });

  test('opens where the storage cannot be reached, and accepts once it can', async () => {
    const { store } = await newLogStore();
    const log = newLog();
    const folder = join(mkdtempSync(join(tmpdir(), 'tally-files-')), 'file', 'log');
    onTestFinished(() => rmSync(join(folder, '../..'), { recursive: true }));
    writeFileSync(join(folder, '..'), '');
    const options = optionsFor(store, log, { storage: directoryStorage(folder) });
    const anchor = await openAnchorLog(options);
    onTestFinished(() => anchor.close());
    await expect(anchor.accept([hashOf(0)], null)).rejects.toThrow(
      /its chain or its storage can’t be reached/,
    );
    rmSync(join(folder, '..'));
    await vi.waitFor(() => anchor.accept([hashOf(0)], null), { timeout: 60_000 });
    await vi.waitFor(async () => expect(await anchor.checkpoint()).toContain('\n1\n'), { timeout: 60_000 });
  });
});
