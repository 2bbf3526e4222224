import { DatabaseSync } from 'node:sqlite';
import { leafHash, merkleRoot, openCheckpoint, TallyError, toHex } from '@tallystick/core';
import { describe, expect, test } from 'vitest';
import { nodeEngine } from '../../kit/src/crypto/node-ed25519.ts';
import {
  acceptHashes,
  hashOf,
  lead,
  newLog,
  newLogStore,
  overriding,
} from '../../server/test/log-fixture.ts';
import { integrate } from './integrator.ts';
import type { LogSigner } from './log-key.ts';
import type { LogStore } from './log-store.ts';

const always = () => true;
const expectedRoot = (size: number) =>
  toHex(merkleRoot(Array.from({ length: size }, (_, index) => leafHash(hashOf(index)))));

async function catchUp(store: LogStore, log: LogSigner, epoch: number): Promise<void> {
  while ((await integrate({ store, log, files: null }, epoch, always)).kind === 'signed');
}

/** Size and root of everything that was ever signed, as a witness of all notes would know it. */
function watchSignatures(log: LogSigner): { log: LogSigner; signed: string[] } {
  const signed: string[] = [];
  const inner = log.signer();
  const signer = {
    ...inner,
    sign: async (message: Uint8Array) => {
      signed.push(Buffer.from(message).toString());
      return inner.sign(message);
    },
  };
  return { log: { ...log, signer: () => signer }, signed };
}

test('leaves come under a signed checkpoint of their own root', async () => {
  const { store } = await newLogStore();
  const log = newLog();
  const epoch = await lead(store);
  for (const size of [0, 1, 2, 300, 301, 1600]) {
    await acceptHashes(store, 0, size);
    expect((await integrate({ store, log, files: null }, epoch, always)).kind).toBe('signed');
    const stored = await store.newestCheckpoint();
    const opened = await openCheckpoint(stored?.note ?? '', log, nodeEngine);
    expect([opened.size, toHex(opened.root)]).toEqual([size, expectedRoot(size)]);
    expect(await integrate({ store, log, files: null }, epoch, always)).toEqual({ kind: 'idle', size });
  }
});

type Failure = 'did not persist' | 'persisted but reported an error';

/** Fails the k-th write, from 0; counts them. */
function failing(store: LogStore, k: number, failure: Failure): { store: LogStore; count: () => number } {
  let count = 0;
  async function write<T>(persist: () => Promise<T>): Promise<T> {
    const fails = count === k;
    count += 1;
    if (fails && failure === 'did not persist') throw new TallyError('unavailable', 'lost');
    const answer = await persist();
    if (fails) throw new TallyError('unavailable', 'unsaid');
    return answer;
  }
  const faulty = overriding(store, {
    advance: (advance) => write(() => store.advance(advance)),
    putCheckpoint: (epoch, checkpoint) => write(() => store.putCheckpoint(epoch, checkpoint)),
  });
  return { store: faulty, count: () => count };
}

describe.each<Failure>(['did not persist', 'persisted but reported an error'])(
  'the k-th write %s',
  (failure) => {
    async function run(k: number) {
      const { store } = await newLogStore();
      const watched = watchSignatures(newLog());
      const faulty = failing(store, k, failure);
      const crashes: unknown[] = [];
      for (const [round, size] of [3, 256, 700].entries()) {
        await acceptHashes(store, 0, size);
        const crash = await catchUp(faulty.store, watched.log, await lead(store)).catch(
          (error: unknown) => error,
        );
        if (crash !== undefined) {
          crashes.push(crash);
          // What ended took all it knew with it; the next process leads under another epoch.
          await store.releaseLease('a');
          await catchUp(faulty.store, watched.log, await lead(store, 'b'));
          await store.releaseLease('b');
        }
        expect((await store.newestCheckpoint())?.size, `round ${round}`).toBe(size);
      }
      for (const text of watched.signed) {
        const [, size, root] = text.split('\n');
        expect(toHex(Buffer.from(root ?? '', 'base64')), `signed ${size}`).toBe(expectedRoot(Number(size)));
      }
      for (const index of [0, 2, 255, 256, 699]) {
        expect((await store.getLeaf(index))?.hash).toEqual(hashOf(index));
      }
      return { crashes, count: faulty.count() };
    }

    test('loses nothing and signs one root for each size, for every k', async () => {
      const { count } = await run(Number.POSITIVE_INFINITY);
      expect(count).toBe(6);
      for (let k = 0; k < count; k++) {
        const crash = expect.objectContaining({ code: 'unavailable' });
        expect((await run(k)).crashes, `write ${k}`).toEqual([crash]);
      }
    });
  },
);

describe('a leader that was paused while another took over', () => {
  async function paused(at: 'advance' | 'putCheckpoint') {
    const { store } = await newLogStore();
    const log = newLog();
    await acceptHashes(store, 0, 10);
    const epoch = await lead(store, 'old');
    const resume = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const pause = async (place: typeof at): Promise<void> => {
      if (place !== at) return;
      reached.resolve();
      await resume.promise;
    };
    const held = overriding(store, {
      advance: async (advance) => {
        await pause('advance');
        return store.advance(advance);
      },
      putCheckpoint: async (by, checkpoint) => {
        await pause('putCheckpoint');
        return store.putCheckpoint(by, checkpoint);
      },
    });
    const old = integrate({ store: held, log, files: null }, epoch, always);
    await reached.promise;
    await store.releaseLease('old');
    const next = await lead(store, 'new');
    await acceptHashes(store, 10, 20);
    await catchUp(store, log, next);
    const published = await store.newestCheckpoint();
    resume.resolve();
    return { store, outcome: await old, published };
  }

  test.each(['advance', 'putCheckpoint'] as const)('publishes nothing once it wakes at %s', async (at) => {
    const { store, outcome, published } = await paused(at);
    expect(outcome).toEqual({ kind: 'fenced' });
    expect(published?.size).toBe(20);
    expect(await store.newestCheckpoint()).toEqual(published);
    expect(toHex((await store.head()).root)).toBe(expectedRoot(20));
  });
});

test('a leader that hears of its loss between two turns writes nothing', async () => {
  const { store } = await newLogStore();
  await acceptHashes(store, 0, 5000);
  const epoch = await lead(store);
  let turns = 0;
  const outcome = await integrate({ store, log: newLog(), files: null }, epoch, () => ++turns < 3);
  expect(outcome).toEqual({ kind: 'fenced' });
  expect([turns, (await store.head()).size]).toEqual([3, 0]);
});

describe('nothing is signed over a corrupted tree', () => {
  const corruptions: Record<string, string> = {
    'a partial tile': `update tiles set hashes = cast(x'00' || substr(hashes, 2) as blob) where level = 0 and idx = 2`,
    'a tile of an upper level': `update tiles set hashes = cast(x'00' || substr(hashes, 2) as blob) where level = 1`,
    'a lost tile': 'delete from tiles where level = 1',
    'the head': `update log_state set head_root = cast(x'00' || substr(head_root, 2) as blob)`,
    'a smaller head': 'update log_state set head_size = head_size - 1',
    'the row of a checkpoint': `update checkpoints set root = cast(x'00' || substr(root, 2) as blob)`,
    'the note of a checkpoint': `update checkpoints set note = replace(note, 'log.example', 'log.examplf')`,
    'a lost leaf': 'delete from leaves where idx = 605',
  };

  test.each(Object.entries(corruptions))('%s', async (_, sql) => {
    const { store, file } = await newLogStore();
    const watched = watchSignatures(newLog());
    const epoch = await lead(store);
    await acceptHashes(store, 0, 600);
    await catchUp(store, watched.log, epoch);
    await acceptHashes(store, 600, 610);
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    await expect(integrate({ store, log: watched.log, files: null }, epoch, always)).rejects.toThrow(
      expect.objectContaining({ code: 'log_corrupted' }),
    );
    expect(watched.signed).toHaveLength(1);
  });

  test('an unsigned head whose tiles changed before its checkpoint was made', async () => {
    const { store, file } = await newLogStore();
    const log = newLog();
    const epoch = await lead(store);
    await acceptHashes(store, 0, 300);
    const { store: faulty } = failing(store, 1, 'did not persist');
    await expect(integrate({ store: faulty, log, files: null }, epoch, always)).rejects.toThrow('lost');
    const database = new DatabaseSync(file);
    database.exec(
      `update tiles set hashes = cast(x'00' || substr(hashes, 2) as blob) where level = 0 and idx = 1`,
    );
    database.close();
    await expect(integrate({ store, log, files: null }, epoch, always)).rejects.toThrow(
      expect.objectContaining({ code: 'log_corrupted' }),
    );
    expect(await store.newestCheckpoint()).toBeNull();
  });
});

test('a replaced key signs nothing', async () => {
  const { store } = await newLogStore();
  const log = newLog();
  const epoch = await lead(store);
  await acceptHashes(store, 0, 5);
  await expect(
    integrate({ store, log: { ...log, signer: newLog().signer }, files: null }, epoch, always),
  ).rejects.toThrow(expect.objectContaining({ code: 'log_mismatch' }));
  expect(await store.newestCheckpoint()).toBeNull();
});
