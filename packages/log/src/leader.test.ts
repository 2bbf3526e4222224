import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TallyError } from '@tallystick/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { acceptHashes, newLog, newLogStore, overriding } from '../../server/test/log-fixture.ts';
import { Leader } from './leader.ts';
import { LogReadiness } from './log-readiness.ts';
import type { LogStore } from './log-store.ts';
import { directoryStorage } from './storage/directory-storage.ts';
import { LogFiles } from './storage/log-files.ts';
import type { ObjectStorage } from './storage/object-storage.ts';

function leaderOn(
  store: LogStore,
  check: () => Promise<void> = async () => {},
  storage: ObjectStorage | null = null,
  log = newLog(),
) {
  const time = { now: 1_000_000 };
  const failures: string[] = [];
  const published: number[] = [];
  const warnings: string[] = [];
  const logger = {
    info() {},
    warn: ({ err }: { err: Error }) => void warnings.push(err.message),
    error() {},
  };
  const metrics = {
    published: (size: number) => published.push(size),
    failed: (part: string) => failures.push(part),
  };
  const gate = new LogReadiness(check);
  const clock = (): number => time.now;
  const files = storage === null ? null : new LogFiles({ store, storage, log, clock, logger });
  const leader = new Leader({ store, log, files, gate, clock, logger, metrics });
  return { leader, gate, time, failures, warnings, published, log };
}

test('one of two leads, and the other takes over at once when it closes', async () => {
  const { store } = await newLogStore();
  const first = leaderOn(store);
  const second = leaderOn(store);
  await first.leader.renew();
  await second.leader.renew();
  expect([first.leader.epoch, second.leader.epoch]).toEqual([1, null]);
  await acceptHashes(store, 0, 10);
  await second.leader.integrate();
  expect(await store.newestCheckpoint()).toBeNull();
  await first.leader.integrate();
  expect((await store.newestCheckpoint())?.size).toBe(10);
  await first.leader.close();
  await second.leader.renew();
  expect(first.leader.epoch).toBeNull();
  expect(second.leader.epoch).toBeGreaterThan(1);
});

test('a lease that was not renewed is no longer used, whatever the database would say', async () => {
  const { store } = await newLogStore();
  const { leader, time } = leaderOn(store);
  await leader.renew();
  await acceptHashes(store, 0, 3);
  time.now += 5_000;
  expect(leader.epoch).toBeNull();
  await leader.integrate();
  expect((await store.head()).size).toBe(0);
  await leader.renew();
  await leader.integrate();
  expect((await store.newestCheckpoint())?.size).toBe(3);
});

test('a database that has lost what was signed stops the log, in processes that never led too', async () => {
  const before = await newLogStore();
  const log = newLog();
  let current: LogStore = before.store;
  // What a standby has that was promoted without the last transactions.
  const database = new Proxy({} as LogStore, {
    get:
      (_, name: keyof LogStore) =>
      (...given: never[]) =>
        (current[name] as (...given: never[]) => unknown)(...given),
  });
  const leading = leaderOn(database, undefined, null, log);
  const other = leaderOn(database, undefined, null, log);
  await leading.leader.renew();
  await acceptHashes(before.store, 0, 10);
  await leading.leader.integrate();
  await other.leader.renew();
  const { store: behind } = await newLogStore();
  await acceptHashes(behind, 100, 7);
  current = behind;
  await expect(leading.leader.integrate()).rejects.toMatchObject({ code: 'log_behind' });
  for (const one of [leading, other]) {
    await one.leader.renew();
    expect(one.gate.fault).toMatchObject({
      code: 'log_behind',
      message: expect.stringContaining('10 leaves'),
    });
    expect([one.leader.epoch, one.gate.isOpen]).toEqual([null, false]);
  }
  expect(await behind.newestCheckpoint()).toBeNull();
});

test('a leader whose integrating hangs gives the lead up, and takes it again once that has ended', async () => {
  const { store } = await newLogStore();
  const hang = Promise.withResolvers<void>();
  const dead = overriding(store, {
    async countLeaves() {
      await hang.promise;
      return store.countLeaves();
    },
  });
  const first = leaderOn(dead);
  const second = leaderOn(store);
  await first.leader.renew();
  await acceptHashes(store, 0, 3);
  const hanging = first.leader.integrate();
  first.time.now += 4_000;
  await first.leader.renew();
  expect([first.leader.epoch, first.failures]).toEqual([null, ['lease']]);
  await second.leader.renew();
  await second.leader.integrate();
  expect((await store.newestCheckpoint())?.size).toBe(3);

  await second.leader.close();
  first.time.now += 10_000;
  await first.leader.renew();
  expect(first.leader.epoch).toBeNull();
  hang.resolve();
  await hanging;
  await first.leader.renew();
  expect(first.leader.epoch).not.toBeNull();
});

test('a leader whose integrating only fails gives the lead up too, and leaves it to others for a while', async () => {
  const { store } = await newLogStore();
  const failing = overriding(store, { countLeaves: () => Promise.reject(new Error('no route')) });
  const { leader, time } = leaderOn(failing);
  await leader.renew();
  for (const _ of [1, 2, 3, 4]) {
    time.now += 1_000;
    await leader.integrate().catch(() => {});
    await leader.renew();
  }
  expect(leader.epoch).toBeNull();
  await leader.renew();
  expect(leader.epoch).toBeNull();
  time.now += 3_000;
  await leader.renew();
  expect(leader.epoch).not.toBeNull();
});

test('a leader that integrates keeps the lead', async () => {
  const { store } = await newLogStore();
  const { leader, time } = leaderOn(store);
  await leader.renew();
  for (let second = 0; second < 20; second++) {
    time.now += 1_000;
    await leader.integrate();
    await leader.renew();
    expect(leader.epoch).toBe(1);
  }
});

test('a leader keeps the lead through one long step on a slow database', async () => {
  const { store } = await newLogStore();
  const slow = overriding(store, {
    async readLeaves(from, to) {
      time.now += 500;
      await leader.renew();
      return store.readLeaves(from, to);
    },
  });
  const { leader, time, published } = leaderOn(slow);
  await leader.renew();
  await acceptHashes(store, 0, 20_000);
  await leader.integrate();
  expect([leader.epoch, published]).toEqual([1, [20_000]]);
});

test('a leader whose steps fail at their end gives the lead up, whatever it hashed', async () => {
  const { store } = await newLogStore();
  const failing = overriding(store, { advance: () => Promise.reject(new Error('read-only')) });
  const { leader, time } = leaderOn(failing);
  await leader.renew();
  await acceptHashes(store, 0, 3_000);
  for (const _ of [1, 2, 3, 4, 5]) {
    await leader.integrate().catch(() => {});
    time.now += 1_000;
    await leader.renew();
  }
  expect(leader.epoch).toBeNull();
});

test('a leader that closes gives the lead up first, also while a renewal and a step hang', async () => {
  const { store } = await newLogStore();
  const hang = Promise.withResolvers<void>();
  let hangs = false;
  const dead = overriding(store, {
    async acquireLease(by, ttl) {
      if (hangs) await hang.promise;
      return store.acquireLease(by, ttl);
    },
    async countLeaves() {
      if (hangs) await hang.promise;
      return store.countLeaves();
    },
  });
  const { leader } = leaderOn(dead);
  await leader.renew();
  hangs = true;
  const hanging = Promise.all([leader.renew(), leader.integrate()]);
  const closed = leader.close();
  const other = leaderOn(store);
  await vi.waitFor(async () => {
    await other.leader.renew();
    expect(other.leader.epoch).not.toBeNull();
  }, 60_000);
  await other.leader.close();
  // The renewal that comes through late leaves the lease free.
  hang.resolve();
  await Promise.all([hanging, closed]);
  const next = leaderOn(store);
  await next.leader.renew();
  expect(next.leader.epoch).not.toBeNull();
});

test('an ex-leader whose clock stood still is fenced and stops', async () => {
  const { store } = await newLogStore();
  let holder = '';
  const spy = overriding(store, {
    acquireLease(by, ttl) {
      holder = by;
      return store.acquireLease(by, ttl);
    },
  });
  const old = leaderOn(spy);
  await old.leader.renew();
  await acceptHashes(store, 0, 3);
  await store.releaseLease(holder);
  const next = leaderOn(store);
  await next.leader.renew();
  expect(old.leader.epoch).toBe(1);
  await old.leader.integrate();
  expect([old.leader.epoch, await store.newestCheckpoint()]).toEqual([null, null]);
});

test('nothing is signed until the start check has passed; a fault ends it for good', async () => {
  const { store } = await newLogStore();
  const answers = [new TallyError('chain_unavailable', 'The node is away.'), null];
  const { leader, gate, failures, published } = leaderOn(store, async () => {
    const answer = answers.shift();
    if (answer instanceof TallyError) throw answer;
  });
  await acceptHashes(store, 0, 5);
  await leader.renew();
  await leader.integrate();
  expect([leader.epoch, gate.isOpen, failures, await store.newestCheckpoint()]).toEqual([
    null,
    false,
    ['lease'],
    null,
  ]);
  await leader.renew();
  await leader.integrate();
  expect([gate.reason, published]).toEqual(['ok', [5]]);

  gate.report(new TallyError('log_corrupted', 'A tile is wrong.'));
  await acceptHashes(store, 5, 9);
  await leader.integrate();
  await leader.renew();
  expect([leader.epoch, gate.reason, published]).toEqual([null, 'A tile is wrong.', [5]]);
  const other = leaderOn(store);
  await other.leader.renew();
  expect(other.leader.epoch).not.toBeNull();
});

test('a fault that integrating finds shuts the gate', async () => {
  const { store } = await newLogStore();
  const torn = overriding(store, { readLeaves: async () => new Uint8Array(0) });
  const { leader, gate, failures } = leaderOn(torn);
  await leader.renew();
  await acceptHashes(store, 0, 5);
  await expect(leader.integrate()).rejects.toThrow(expect.objectContaining({ code: 'log_corrupted' }));
  expect([leader.epoch, gate.isOpen, failures]).toEqual([null, false, ['integrate']]);
});

test('whoever posts can wait for a checkpoint, and hears when there will be none', async () => {
  const { store } = await newLogStore();
  const { leader } = leaderOn(store);
  await leader.renew();
  await acceptHashes(store, 0, 40_000);
  const running = leader.integrate();
  await acceptHashes(store, 40_000, 40_010);
  await Promise.all([leader.integrated(40_010), running]);
  expect((await store.newestCheckpoint())?.size).toBe(40_010);
  await leader.close();
  await acceptHashes(store, 40_010, 40_011);
  await expect(leader.integrated(40_011)).rejects.toThrow(expect.objectContaining({ code: 'unavailable' }));
});

test('a duty gets the epoch, only while this process leads, and its failures are counted', async () => {
  const { store } = await newLogStore();
  const { leader, failures } = leaderOn(store);
  const seen: number[] = [];
  const duty = {
    async step(epoch: number) {
      seen.push(epoch);
      throw new Error('The node is away.');
    },
  };
  await leader.perform('post', duty);
  await leader.renew();
  await leader.perform('post', duty);
  expect([seen, failures]).toEqual([[1], ['post']]);
});

test('a failure that goes on is logged once, and again after it was over', async () => {
  const { store } = await newLogStore();
  const { leader, failures, warnings } = leaderOn(store);
  await leader.renew();
  let trouble: Error | null = new Error('no route');
  const duty = { step: async () => (trouble === null ? undefined : Promise.reject(trouble)) };
  await leader.perform('post', duty);
  await leader.perform('post', duty);
  trouble = null;
  await leader.perform('post', duty);
  trouble = new Error('no route');
  await leader.perform('post', duty);
  expect(failures).toEqual(['post', 'post', 'post']);
  expect(warnings).toEqual(['no route', 'no route']);
});

test('a leader keeps the lead while it fills a storage, however long that takes', async () => {
  const { store } = await newLogStore();
  const before = leaderOn(store);
  await before.leader.renew();
  await acceptHashes(store, 0, 20_000);
  await before.leader.integrate();
  await before.leader.close();
  const folder = mkdtempSync(join(tmpdir(), 'tally-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const directory = directoryStorage(folder);
  const slow: ObjectStorage = {
    ...directory,
    async create(path, bytes) {
      filling.time.now += 200;
      await filling.leader.renew();
      return directory.create(path, bytes);
    },
  };
  const filling = leaderOn(store, undefined, slow, before.log);
  await filling.leader.renew();
  const { epoch } = filling.leader;
  await filling.leader.integrate();
  expect(await directory.get('checkpoint')).not.toBeNull();
  expect(filling.time.now).toBeGreaterThan(1_030_000);
  expect([filling.leader.epoch, filling.failures]).toEqual([epoch, []]);
});
