import {
  entriesPath,
  leafHash,
  merkleRoot,
  openCheckpoint,
  signCheckpoint,
  TallyError,
  tilePath,
  toHex,
} from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { nodeEngine } from '../../kit/src/crypto/node-ed25519.ts';
import {
  acceptHashes,
  hashOf,
  lead,
  newLog,
  newLogStore,
  overriding,
} from '../../server/test/log-fixture.ts';
import { fsckLog } from '../src/fsck.ts';
import { type Integration, integrate } from '../src/integrator.ts';
import type { LogSigner } from '../src/log-key.ts';
import type { LogStore } from '../src/log-store.ts';
import { LogFiles } from '../src/storage/log-files.ts';
import type { ObjectStorage } from '../src/storage/object-storage.ts';
import { hashesAt, levelsOf, tileWidth } from '../src/tree-shape.ts';

/** A storage of its own for a test, and what its operator can do to it. */
export interface TestStorage {
  readonly storage: ObjectStorage;
  /** Writes an object over whatever is there. */
  readonly overwrite: (path: string, bytes: Uint8Array) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const textOf = (found: Uint8Array | null): string | null => found && Buffer.from(found).toString();

/** The guarantees of {@link ObjectStorage}, and those of a log's files in one, to be kept by every adapter. */
export function storageSuite(name: string, newStorage: () => Promise<TestStorage>): void {
  describe(`${name} keeps objects`, () => {
    it('that are stored once, whoever comes first', async () => {
      const { storage } = await newStorage();
      await storage.check();
      await storage.check();
      expect(await storage.get('tile/0/000')).toBeNull();
      const texts = Array.from({ length: 8 }, (_, index) => `of writer ${index}`);
      const stored = await Promise.all(texts.map((text) => storage.create('tile/0/x001/000', bytes(text))));
      expect(stored.filter(Boolean)).toHaveLength(1);
      expect(textOf(await storage.get('tile/0/x001/000'))).toBe(texts[stored.indexOf(true)]);
      expect(await storage.create('tile/0/x001/000.p/1', bytes('beside it'))).toBe(true);
      expect(textOf(await storage.get('tile/0/x001/000.p/1'))).toBe('beside it');
    });

    it('that are replaced only by newer ones, however many are written at a time', async () => {
      const { storage } = await newStorage();
      const write = (version: number): Promise<void> =>
        storage.replace('checkpoint', bytes(`${version}`), async (current) => {
          return Number(textOf(current) ?? 0) < version;
        });
      await write(3);
      await write(2);
      expect(textOf(await storage.get('checkpoint'))).toBe('3');
      await Promise.all([5, 4, 6].map(write));
      expect(textOf(await storage.get('checkpoint'))).toBe('6');
    });

    it('and looks again where another was faster', async () => {
      const { storage } = await newStorage();
      const seen: (string | null)[] = [];
      await storage.replace('checkpoint', bytes('3'), async (current) => {
        seen.push(textOf(current));
        if (seen.length === 1) await storage.replace('checkpoint', bytes('2'), async () => true);
        return true;
      });
      expect(seen).toEqual([null, '2']);
      expect(textOf(await storage.get('checkpoint'))).toBe('3');
    });
  });

  describe(`${name} has the files of a log`, () => {
    it('all those of each signed checkpoint', async () => {
      const log = await newStoredLog(newStorage);
      for (const size of [0, 1, 2, 256, 300, 301, 1600]) {
        await acceptHashes(log.store, 0, size);
        expect((await log.step()).kind).toBe('signed');
        expect(await published(log)).toBe(size);
        expect(await log.step()).toEqual({ kind: 'idle', size });
      }
    });

    it('with the signatures that a checkpoint got later', async () => {
      const log = await newStoredLog(newStorage);
      await acceptHashes(log.store, 0, 3);
      await log.step();
      const newest = await log.store.newestCheckpoint();
      if (newest === null) throw new Error('There is no checkpoint.');
      const note = `${newest.note}— witness.example AAAAAAAA\n`;
      await log.store.putCheckpoint(log.epoch, { ...newest, note });
      await log.step();
      expect(await log.files.checkpoint()).toBe(note);
      await log.newFiles().publish(newest, () => true);
      expect(await log.files.checkpoint(), 'by one who has not heard of them').toBe(note);
    });

    it('of a log that is older than the storage', async () => {
      const log = await newStoredLog(newStorage);
      for (const size of [3, 300, 700]) {
        await acceptHashes(log.store, 0, size);
        await log.step(null);
      }
      const faulty = failing(log.storage, 5);
      const files = log.newFiles(faulty.storage);
      await expect(log.step(files)).rejects.toThrow('lost');
      expect(await published(log)).toBeNull();
      expect((await log.step(files)).kind).toBe('idle');
      expect(await published(log)).toBe(700);
    });

    it('and comes to them by way of older checkpoints, where there are many leaves', async () => {
      const log = await newStoredLog(newStorage);
      await acceptHashes(log.store, 0, 40_000);
      await log.step(null);
      await log.step(null);
      const crashed = failing(log.storage, 200);
      await expect(log.step(log.newFiles(crashed.storage))).rejects.toThrow('lost');
      expect(await published(log)).toBe(null);
      const later = failing(log.storage, 300);
      await expect(log.step(log.newFiles(later.storage))).rejects.toThrow('lost');
      expect(await published(log)).toBe(32_768);
      const { created } = watching(log.storage);
      await log.step(log.newFiles(created.storage));
      expect(await published(log)).toBe(40_000);
      expect(created.paths).toContain('tile/0/128');
      expect(created.paths, 'does not begin again').not.toContain('tile/0/127');
    });

    it('and stops filling it once another process leads', async () => {
      const log = await newStoredLog(newStorage);
      await acceptHashes(log.store, 0, 5000);
      await log.step(null);
      let turns = 0;
      const { store, log: key, files } = log;
      const outcome = await integrate({ store, log: key, files }, log.epoch, () => ++turns < 3);
      expect([outcome.kind, turns, await published(log)]).toEqual(['fenced', 3, null]);
    });
  });

  describe(`where the k-th write fails, ${name}`, () => {
    it.each([
      ['did not persist', 'another process'],
      ['did not persist', 'the same process'],
      ['persisted but reported an error', 'another process'],
    ] as const)('that %s, lacks nothing once %s goes on', async (failure, next) => {
      async function run(k: number): Promise<number> {
        const log = await newStoredLog(newStorage);
        const faulty = failing(log.storage, k, failure, log.store);
        const files = log.newFiles(faulty.storage);
        let failures = 0;
        for (const size of [3, 256, 700]) {
          await acceptHashes(log.store, 0, size);
          const done = log.step(files, faulty.store);
          failures += await done.then(
            () => 0,
            () => 1,
          );
          // What readers find meanwhile is a log, maybe the one before.
          expect(await published(log)).toBeOneOf([null, 3, 256, 700]);
          const later = next === 'the same process' ? files : log.newFiles();
          while ((await log.step(later)).kind === 'signed');
          expect(await published(log), `write ${k}`).toBe(size);
        }
        expect(failures).toBe(k < faulty.count() ? 1 : 0);
        return faulty.count();
      }
      const count = await run(Number.POSITIVE_INFINITY);
      // Twice the head and the note; of the files two, five and six.
      expect(count).toBeGreaterThan(15);
      for (let k = 0; k < count; k++) await run(k);
    });
  });

  it(`of ${name}, no write is under way any more once a round has failed`, async () => {
    const log = await newStoredLog(newStorage);
    await acceptHashes(log.store, 0, 5);
    const held = Promise.withResolvers<void>();
    const events: string[] = [];
    const storage: ObjectStorage = {
      ...log.storage,
      async create(path, content) {
        if (path.startsWith('tile/0/')) {
          setImmediate(held.resolve);
          throw new TallyError('unavailable', 'lost');
        }
        await held.promise;
        const stored = await log.storage.create(path, content);
        events.push('stored');
        return stored;
      },
    };
    await log.step(log.newFiles(storage)).catch(() => events.push('failed'));
    expect(events).toEqual(['stored', 'failed']);
  });

  describe(`${name} stops a log`, () => {
    const refused = (code: string) => expect.objectContaining({ code });

    it.each([tilePath(0, 0, 10), entriesPath(0, 10)])('that finds another file at %s', async (path) => {
      const log = await newStoredLog(newStorage);
      await acceptHashes(log.store, 0, 5);
      await log.step();
      await log.overwrite(path, bytes('x'.repeat(320)));
      await acceptHashes(log.store, 5, 10);
      await expect(log.step()).rejects.toThrow(refused('log_corrupted'));
      expect((await log.store.head()).size).toBe(5);
      expect(await published(log)).toBe(5);
    });

    it('whose leaves have changed since they were hashed, before a bundle of them is stored', async () => {
      const log = await newStoredLog(newStorage);
      await acceptHashes(log.store, 0, 5);
      await log.step();
      await acceptHashes(log.store, 5, 10);
      const changed = overriding(log.store, {
        readLeaves: async (from, to) => (await log.store.readLeaves(from, to)).map((byte) => byte ^ 1),
      });
      const files = new LogFiles({ ...log.options, store: changed });
      await expect(log.step(files)).rejects.toThrow(refused('log_corrupted'));
      expect((await log.store.head()).size).toBe(5);
      expect(await log.storage.get(entriesPath(0, 10))).toBeNull();
    });

    it('that finds the checkpoint of another log', async () => {
      const log = await newStoredLog(newStorage);
      const other = newLog();
      const note = await signCheckpoint(
        { origin: other.origin, ...(await log.store.head()) },
        other.signer(),
      );
      await log.overwrite('checkpoint', bytes(note));
      await expect(log.files.checkNotBehind()).rejects.toThrow(refused('log_mismatch'));
      await acceptHashes(log.store, 0, 5);
      await expect(log.step()).rejects.toThrow(refused('log_mismatch'));
      expect(textOf(await log.storage.get('checkpoint'))).toBe(note);
    });

    it('that has fewer leaves than were published of it, or others', async () => {
      const log = await newStoredLog(newStorage);
      await acceptHashes(log.store, 0, 5);
      await log.step();
      await log.newFiles().checkNotBehind();

      const { store: restored } = await newLogStore();
      const behind = new LogFiles({ ...log.options, store: restored });
      await expect(behind.checkNotBehind()).rejects.toThrow(refused('log_behind'));

      const epoch = await lead(restored);
      await acceptHashes(restored, 100, 107);
      await integrate({ store: restored, log: log.log, files: null }, epoch, () => true);
      await expect(behind.checkNotBehind()).rejects.toThrow(refused('log_corrupted'));
      const options = { store: restored, log: log.log, files: behind };
      await expect(integrate(options, epoch, () => true)).rejects.toThrow(refused('log_corrupted'));
      expect(await published(log)).toBe(5);
    });
  });

  it(`a leader that was paused while another took over leaves the newer checkpoint in ${name}`, async () => {
    const log = await newStoredLog(newStorage);
    const resume = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const held: ObjectStorage = {
      ...log.storage,
      async replace(path, note, isNewer) {
        await log.storage.replace(path, note, async (current) => {
          const newer = await isNewer(current);
          reached.resolve();
          await resume.promise;
          return newer;
        });
      },
    };
    await acceptHashes(log.store, 0, 10);
    const old = log.step(log.newFiles(held));
    await reached.promise;
    await acceptHashes(log.store, 0, 20);
    await log.step(log.newFiles());
    expect(await published(log)).toBe(20);
    resume.resolve();
    await old;
    expect(await published(log)).toBe(20);
  });

  describe(`fsck finds in ${name}`, () => {
    async function sound() {
      const log = await newStoredLog(newStorage);
      await acceptHashes(log.store, 0, 700);
      await log.step();
      const check = async (): Promise<string[]> => {
        const { faults } = await fsckLog({ store: log.store, log: log.log, storage: log.storage });
        return faults.map(({ where, what }) => `${where} ${what}`);
      };
      return { ...log, check };
    }

    it('nothing where all is there, while the log grows too', async () => {
      const { store, log, storage, step } = await sound();
      await acceptHashes(store, 700, 710);
      const growing = overriding(store, {
        async head() {
          await step();
          return store.head();
        },
      });
      expect(await fsckLog({ store: growing, log, storage })).toMatchObject({ files: 8, faults: [] });
      expect((await store.newestCheckpoint())?.size).toBe(710);
    });

    it.each([
      'tile/0/001',
      'tile/0/002.p/188',
      'tile/1/000.p/2',
      'tile/entries/000',
      'tile/entries/002.p/188',
    ])('that %s is damaged, and that it is missing', async (path) => {
      const { check, overwrite, remove, storage } = await sound();
      const right = await storage.get(path);
      const wrong = Buffer.from(right ?? []);
      wrong.writeUInt8(wrong.readUInt8(40) ^ 1, 40);
      await overwrite(path, wrong);
      expect(await check()).toEqual([`${path} in the storage is not what the leaves make`]);
      await remove(path);
      expect(await check()).toEqual([`${path} in the storage is missing`]);
      await storage.create(path, right ?? wrong);
      expect(await check()).toEqual([]);
    });

    it('that the checkpoint is missing, or another one', async () => {
      const { check, overwrite, remove, log, store } = await sound();
      const { size, root } = await store.head();
      const sign = (head: { size: number; root: Uint8Array }) =>
        signCheckpoint({ origin: log.origin, ...head }, log.signer());
      await overwrite('checkpoint', bytes(await sign({ size, root: new Uint8Array(32) })));
      expect(await check()).toEqual(['checkpoint in the storage is of another tree of 700 leaves']);
      await overwrite('checkpoint', bytes(await sign({ size: 699, root })));
      expect(await check()).toEqual([
        'checkpoint in the storage is of 699 leaves, of which no checkpoint is in the database',
      ]);
      await overwrite('checkpoint', bytes('garbage'));
      expect(await check()).toEqual([expect.stringMatching(/^checkpoint in the storage /)]);
      await remove('checkpoint');
      expect(await check()).toEqual(['checkpoint in the storage is missing']);
    });
  });
}

/** A log whose files go into a storage. */
async function newStoredLog(newStorage: () => Promise<TestStorage>) {
  const { store } = await newLogStore();
  const log = newLog();
  const place = await newStorage();
  const options = { store, log, storage: place.storage, clock: Date.now, logger: { info() {} } };
  const newFiles = (storage = place.storage): LogFiles => new LogFiles({ ...options, storage });
  const files = newFiles();
  const epoch = await lead(store);
  const step = (to: LogFiles | null = files, through: LogStore = store): Promise<Integration> =>
    integrate({ store: through, log, files: to }, epoch, () => true);
  return { ...place, store, log, options, files, newFiles, epoch, step };
}

/**
 * Reads the published log as a stranger does. Returns the size of its checkpoint; null where there is none.
 * @throws when a file of its tree is missing, or does not have the checkpoint's root
 */
async function published({
  storage,
  log,
}: {
  storage: ObjectStorage;
  log: LogSigner;
}): Promise<number | null> {
  const note = textOf(await storage.get('checkpoint'));
  if (note === null) return null;
  const { size, root } = await openCheckpoint(note, log, nodeEngine);
  const leaves: Uint8Array[] = [];
  let row: Uint8Array[] = [];
  for (let level = 0; level < levelsOf(size); level++) {
    const hashes: Uint8Array[] = [];
    for (let index = 0; index * 256 < hashesAt(size, level); index++) {
      const width = tileWidth(size, level, index);
      const tile = await storage.get(tilePath(level, index, width));
      expect(tile?.length, tilePath(level, index, width)).toBe(width * 32);
      for (let at = 0; at < width; at++) hashes.push((tile ?? bytes('')).subarray(at * 32, at * 32 + 32));
      if (level > 0) continue;
      const bundle = await storage.get(entriesPath(index, width));
      expect(bundle?.length, entriesPath(index, width)).toBe(width * 34);
      for (let at = 0; at < width; at++)
        leaves.push((bundle ?? bytes('')).subarray(at * 34 + 2, at * 34 + 34));
    }
    const expected =
      level === 0
        ? leaves.map((leaf) => leafHash(leaf))
        : hashes.map((_, at) => merkleRoot(row.slice(at * 256, at * 256 + 256)));
    expect(hashes.map(toHex), `level ${level}`).toEqual(expected.map(toHex));
    row = hashes;
  }
  expect(leaves.map(toHex)).toEqual(leaves.map((_, index) => toHex(hashOf(index))));
  expect(toHex(merkleRoot(leaves.map((leaf) => leafHash(leaf))))).toBe(toHex(root));
  return size;
}

/** Fails the k-th write to the storage or the database, from 0; counts them. */
function failing(
  storage: ObjectStorage,
  k: number,
  failure: 'did not persist' | 'persisted but reported an error' = 'did not persist',
  store: LogStore | null = null,
) {
  let count = 0;
  async function write<T>(persist: () => Promise<T>): Promise<T> {
    const fails = count === k;
    count += 1;
    if (fails && failure === 'did not persist') throw new TallyError('unavailable', 'lost');
    const answer = await persist();
    if (fails) throw new TallyError('unavailable', 'unsaid');
    return answer;
  }
  return {
    count: () => count,
    storage: {
      ...storage,
      create: (path: string, content: Uint8Array) => write(() => storage.create(path, content)),
      replace: (...args: Parameters<ObjectStorage['replace']>) => write(() => storage.replace(...args)),
    },
    ...(store !== null && {
      store: overriding(store, {
        advance: (advance) => write(() => store.advance(advance)),
        putCheckpoint: (epoch, checkpoint) => write(() => store.putCheckpoint(epoch, checkpoint)),
      }),
    }),
  };
}

/** Notes what is created. */
function watching(storage: ObjectStorage) {
  const paths: string[] = [];
  const watched: ObjectStorage = {
    ...storage,
    async create(path, content) {
      paths.push(path);
      return storage.create(path, content);
    },
  };
  return { created: { storage: watched, paths } };
}
