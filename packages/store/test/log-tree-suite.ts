import { emptyRoot } from '@tallystick/core';
import { beforeEach, describe, expect, it } from 'vitest';
import type { LogStore, StoredCheckpoint, Tile } from '../../log/src/log-store.ts';
import type { Store } from '../src/store.ts';
import { attempt, contents, HOUR, hash, head, lead, place } from './log-fixtures.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

const EMPTY = { size: 0, root: emptyRoot() };

/** A tile of the hashes that stand for `first` to `last`. */
function tile(level: number, index: number, first: number, last: number): Tile {
  const hashes = times(last - first + 1, (i) => hash(`tile ${first + i}`));
  return { level, index, hashes: new Uint8Array(Buffer.concat(hashes)) };
}

function checkpoint(size: number, note = `note of ${size}`): StoredCheckpoint {
  return { ...head(size), note };
}

/** What {@link LogStore} says of the lease, the tree and its checkpoints, to be kept by every adapter. */
export function logTreeSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the tree of the log`, () => {
    const { open, close, execute } = useDatabase(createDatabase);
    let store: Store;
    let log: LogStore;

    beforeEach(async () => {
      store = await open();
      log = store.log;
    });

    it('is claimed once: others are told by whom', async () => {
      expect(await log.identity()).toBeNull();
      const identity = { origin: 'log.example', chainId: 31_337, publicKey: 'AAAA' };
      const claims = await Promise.all([
        log.claimIdentity(identity),
        (await open()).log.claimIdentity({ ...identity, chainId: 1 }),
      ]);
      expect(claims[1]).toEqual(claims[0]);
      expect(await log.identity()).toEqual(claims[0]);
      await close(store);
      expect(await (await open()).log.claimIdentity({ ...identity, origin: 'other' })).toEqual(claims[0]);
    });

    it('keeps the keys of witnesses for good, each once', async () => {
      const key = (name: string, byte: number) => ({ name, publicKey: new Uint8Array(32).fill(byte) });
      expect(await log.listWitnesses()).toEqual([]);
      const other = (await open()).log;
      await Promise.all([
        log.rememberWitnesses([key('b', 1), key('a', 1)]),
        other.rememberWitnesses([key('b', 1), key('b', 2)]),
      ]);
      await log.rememberWitnesses([]);
      await close(store);
      const kept = await (await open()).log.listWitnesses();
      expect(kept.map(({ name, publicKey }) => key(name, publicKey[0] ?? 0))).toEqual([
        key('a', 1),
        key('b', 1),
        key('b', 2),
      ]);
      expect(kept.map(({ publicKey }) => publicKey.length)).toEqual([32, 32, 32]);
    });

    describe('the lease', () => {
      it('has one holder, who renews it under the same epoch', async () => {
        const other = (await open()).log;
        const lease = await log.acquireLease('a', 60);
        expect(await other.acquireLease('b', 60)).toBeNull();
        expect(await other.acquireLease('a', 60)).toEqual(lease);
      });

      it('passes on when it has run out, with a greater epoch', async () => {
        const first = await log.acquireLease('a', -0.001);
        expect(await log.acquireLease('a', -0.001)).toEqual(first);
        const second = await log.acquireLease('b', 60);
        expect(second?.epoch).toBeGreaterThan(first?.epoch ?? Infinity);
        expect(await log.acquireLease('a', 60)).toBeNull();
      });

      it('runs out by the clock of the database, in fractions of a second', async () => {
        await log.acquireLease('a', 0.05);
        let lease = await log.acquireLease('b', 60);
        for (const start = Date.now(); lease === null && Date.now() < start + 60_000; ) {
          lease = await log.acquireLease('b', 60);
        }
        expect(lease).not.toBeNull();
      });

      it('is let go by its holder alone, and its epoch ends there', async () => {
        const first = await lead(log, 'a');
        await log.releaseLease('b');
        expect(await log.acquireLease('b', 60)).toBeNull();
        await log.releaseLease('a');
        expect(await log.closeBatch(first, HOUR, HOUR + 1)).toBe('fenced');
        expect(await lead(log, 'b')).toBeGreaterThan(first);
      });

      it('goes to one of many that want it at once', async () => {
        const stores = await Promise.all(times(3, () => open()));
        const leases = await Promise.all(
          times(12, (i) => stores[i % 3]!.log.acquireLease(`holder ${i}`, 60)),
        );
        expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
      });

      it('still writes when it has run out and nobody else has taken it', async () => {
        const lease = await log.acquireLease('a', -1);
        expect(await log.closeBatch(lease?.epoch ?? 0, HOUR, HOUR + 1)).toBe(0);
      });
    });

    describe('its head', () => {
      it('moves from where it is, with its tiles, for others too and after a reopen', async () => {
        expect(await log.head()).toEqual(EMPTY);
        const epoch = await lead(log);
        await place(log, times(3, String));
        const tiles = [tile(0, 0, 0, 1)];
        expect(await log.advance({ epoch, from: EMPTY, to: head(2), tiles })).toBe('advanced');
        expect(await (await open()).log.head()).toEqual(head(2));
        await close(store);
        const again = (await open()).log;
        expect(await again.head()).toEqual(head(2));
        expect(await again.getTile(0, 0)).toEqual(tiles[0]?.hashes);
        expect(await again.getTile(0, 1)).toBeNull();
      });

      it('answers the same when a move is repeated, and refuses one from elsewhere', async () => {
        const epoch = await lead(log);
        await place(log, times(5, String));
        const first = { epoch, from: EMPTY, to: head(2), tiles: [tile(0, 0, 0, 1)] };
        await log.advance(first);
        expect(await log.advance(first)).toBe('advanced');
        expect(await log.advance({ ...first, to: head(3) })).toBe('fenced');
        const fork = { size: 2, root: hash('fork') };
        expect(await log.advance({ ...first, from: fork, to: head(3) })).toBe('fenced');
        expect(await log.head()).toEqual(head(2));
        await log.advance({ epoch, from: head(2), to: head(4), tiles: [] });
        expect(await log.advance(first)).toBe('fenced');
      });

      it('never shrinks, stands still under another root, or passes the leaves', async () => {
        const epoch = await lead(log);
        await place(log, times(3, String));
        await log.advance({ epoch, from: EMPTY, to: head(2), tiles: [] });
        for (const to of [head(1), { size: 2, root: hash('fork') }, head(4)]) {
          const move = log.advance({ epoch, from: head(2), to, tiles: [tile(0, 0, 0, 0)] });
          await expect(move).rejects.toThrow(RangeError);
        }
        expect(await log.getTile(0, 0)).toBeNull();
      });

      it('moves once when many move it at once', async () => {
        const epoch = await lead(log);
        await place(log, times(20, String));
        const logs = [log, (await open()).log];
        const moves = await Promise.all(
          times(20, (i) =>
            logs[i % 2]!.advance({ epoch, from: EMPTY, to: head(i + 1), tiles: [tile(0, 0, 0, i)] }),
          ),
        );
        expect(moves.filter((move) => move === 'advanced')).toHaveLength(1);
        const { size } = await log.head();
        expect(size).toBe(moves.indexOf('advanced') + 1);
        expect(await log.getTile(0, 0)).toHaveLength(size * 32);
      });
    });

    describe('its tiles', () => {
      it('grow and never change, and a move that would change one is undone', async () => {
        const epoch = await lead(log);
        await place(log, times(300, String));
        const grown = [tile(0, 0, 0, 255), tile(1, 0, 0, 0), tile(0, 1, 256, 299)];
        await log.advance({ epoch, from: EMPTY, to: head(2), tiles: [tile(0, 0, 0, 1)] });
        await log.advance({ epoch, from: head(2), to: head(300), tiles: grown });
        await place(log, ['more']);
        for (const changed of [tile(0, 1, 257, 300), tile(0, 1, 256, 298)]) {
          const tiles = [tile(1, 1, 0, 0), changed];
          const move = log.advance({ epoch, from: head(300), to: head(301), tiles });
          await expect(move).rejects.toMatchObject({ code: 'log_corrupted' });
        }
        expect(await log.head()).toEqual(head(300));
        expect(await collect(log.listTiles())).toEqual([grown[0], grown[2], grown[1]]);
      });

      it('are listed over pages by level and index', async () => {
        const epoch = await lead(log);
        await place(log, ['a']);
        const tiles = times(150, (i) => tile(i % 3, Math.floor(i / 3), i, i));
        await log.advance({ epoch, from: EMPTY, to: head(1), tiles: tiles.toReversed() });
        const sorted = [...tiles].sort((a, b) => a.level - b.level || a.index - b.index);
        expect(await collect(log.listTiles())).toEqual(sorted);
      });
    });

    describe('its checkpoints', () => {
      it('are of the present head, and take a note with more signatures', async () => {
        expect(await log.newestCheckpoint()).toBeNull();
        const epoch = await lead(log);
        await place(log, times(3, String));
        await log.advance({ epoch, from: EMPTY, to: head(2), tiles: [] });
        expect(await log.putCheckpoint(epoch, checkpoint(3))).toBe('fenced');
        expect(await log.putCheckpoint(epoch, { ...checkpoint(2), root: hash('fork') })).toBe('fenced');
        expect(await log.putCheckpoint(epoch, checkpoint(2))).toBe('stored');
        expect(await log.putCheckpoint(epoch, checkpoint(2, 'signed twice — é'))).toBe('stored');
        expect(await log.newestCheckpoint()).toEqual(checkpoint(2, 'signed twice — é'));
        await log.advance({ epoch, from: head(2), to: head(3), tiles: [] });
        await close(store);
        const again = (await open()).log;
        expect(await again.getCheckpoint(2)).toEqual(checkpoint(2, 'signed twice — é'));
        expect(await again.getCheckpoint(3)).toBeNull();
      });

      it('take more signatures once the head has moved on, under the same root', async () => {
        const epoch = await lead(log);
        await place(log, times(4, String));
        for (const [from, to] of [
          [EMPTY, head(2)],
          [head(2), head(3)],
          [head(3), head(4)],
        ] as const) {
          await log.advance({ epoch, from, to, tiles: [] });
          if (to.size !== 3) await log.putCheckpoint(epoch, checkpoint(to.size));
        }
        expect(await log.putCheckpoint(epoch, checkpoint(2, 'cosigned'))).toBe('stored');
        const fork = { ...checkpoint(2), root: hash('fork') };
        expect(await log.putCheckpoint(epoch, fork)).toBe('fenced');
        expect(await log.putCheckpoint(epoch, checkpoint(3))).toBe('fenced');
        expect(await log.putCheckpoint(epoch - 1, checkpoint(2))).toBe('fenced');
        expect(await collect(log.listCheckpoints())).toEqual([checkpoint(2, 'cosigned'), checkpoint(4)]);
        expect(await log.newestCheckpoint()).toEqual(checkpoint(4));
        const within = await Promise.all([1, 2, 3, 9].map((size) => log.checkpointWithin(size)));
        expect(within.map((found) => found?.size)).toEqual([undefined, 2, 2, 4]);
        const after = await Promise.all([0, 2, 3, 4].map((size) => log.checkpointAfter(size)));
        expect(after.map((found) => found?.size)).toEqual([2, 4, 4, undefined]);
      });

      it('begin with that of the empty tree', async () => {
        const epoch = await lead(log);
        expect(await log.putCheckpoint(epoch, { ...EMPTY, root: hash('fork'), note: '' })).toBe('fenced');
        const first = { ...EMPTY, note: 'note of none' };
        expect(await log.putCheckpoint(epoch, first)).toBe('stored');
        expect([await log.newestCheckpoint(), await log.getCheckpoint(0)]).toEqual([first, first]);
        expect(await collect(log.listCheckpoints())).toEqual([first]);
      });

      it('are listed over pages by size', async () => {
        const epoch = await lead(log);
        await place(log, times(250, String));
        for (let size = 1; size <= 250; size += 1) {
          const from = size === 1 ? EMPTY : head(size - 1);
          await log.advance({ epoch, from, to: head(size), tiles: [] });
          await log.putCheckpoint(epoch, checkpoint(size));
        }
        const listed = await collect(log.listCheckpoints());
        expect(listed).toEqual(times(250, (i) => checkpoint(i + 1)));
      });
    });

    it('its old checkpoints are purged, but for those whose trees are on the chain', async () => {
      const epoch = await lead(log);
      await place(log, times(12, String));
      for (let size = 1; size <= 12; size += 1) {
        const from = size === 1 ? EMPTY : head(size - 1);
        await log.advance({ epoch, from, to: head(size), tiles: [] });
        await log.putCheckpoint(epoch, checkpoint(size));
      }
      const sizes = async (): Promise<number[]> =>
        (await collect(log.listCheckpoints())).map(({ size }) => size);
      expect(await log.purgeCheckpoints(HOUR, 100)).toBe(0);
      for (const [sequence, size] of [
        [1, 3],
        [2, 5],
        [3, 9],
      ] as const) {
        const posting = { sequence, batchAt: HOUR + sequence, ...head(size), nonce: sequence };
        await log.queuePosting(epoch, posting, attempt(sequence, sequence));
      }
      expect(await log.purgeCheckpoints(HOUR + 1, 100)).toBe(0);
      expect(await sizes()).toHaveLength(12);
      expect(await log.purgeCheckpoints(HOUR + 3, 2)).toBe(2);
      expect(await log.purgeCheckpoints(HOUR + 3, 2)).toBe(1);
      expect(await log.purgeCheckpoints(HOUR + 3, 2)).toBe(0);
      expect(await sizes()).toEqual([3, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(await log.purgeCheckpoints(HOUR + 4, 100)).toBe(3);
      expect(await sizes()).toEqual([3, 5, 9, 10, 11, 12]);
    });

    describe('the fence', () => {
      const posting = { sequence: 1, batchAt: HOUR, ...head(2), nonce: 0 };
      const writes: Record<string, (log: LogStore, epoch: number) => Promise<unknown>> = {
        advance: (log, epoch) =>
          log.advance({ epoch, from: head(2), to: head(3), tiles: [tile(0, 0, 0, 2)] }),
        putCheckpoint: (log, epoch) => log.putCheckpoint(epoch, checkpoint(2)),
        closeBatch: (log, epoch) => log.closeBatch(epoch, HOUR, HOUR + 60),
        queuePosting: (log, epoch) =>
          log.queuePosting(epoch, { ...posting, ...head(3), sequence: 2, nonce: 1 }, attempt(2, 1)),
        addAttempt: (log, epoch) => log.addAttempt(epoch, attempt(1, 0, 'bumped')),
        movePosting: (log, epoch) =>
          log.movePosting(epoch, 1, { state: 'broadcast', place: null, finalizedAt: null }),
      };

      async function began(): Promise<number> {
        const epoch = await lead(log, 'a');
        await place(log, times(3, String));
        await log.advance({ epoch, from: EMPTY, to: head(2), tiles: [tile(0, 0, 0, 1)] });
        await log.queuePosting(epoch, posting, attempt(1, 0));
        return epoch;
      }

      it.each(Object.entries(writes))(
        'lets the holder through and nobody before it: %s',
        async (_name, write) => {
          const old = await began();
          await log.acquireLease('a', -1);
          const epoch = await lead((await open()).log, 'b');
          const before = await contents(log);
          expect(await write(log, old)).toBe('fenced');
          expect(await write(log, epoch + 1)).toBe('fenced');
          expect(await contents(log)).toEqual(before);
          expect(await place(log, ['next'])).toMatchObject([{ batchAt: HOUR }]);
          expect(await write(log, epoch)).not.toBe('fenced');
        },
      );

      it.each(Object.entries(writes))(
        'answers the same to a write that is repeated: %s',
        async (_name, write) => {
          const epoch = await began();
          const answer = await write(log, epoch);
          const after = await contents(log);
          expect(await write(log, epoch)).toEqual(answer);
          expect(await contents(log)).toEqual(after);
        },
      );

      it.each(Object.entries(writes))('leaves nothing of a write that fails: %s', async (_name, write) => {
        const epoch = await began();
        const before = await contents(log);
        for (const table of ['log_state', 'tiles', 'checkpoints', 'postings', 'posting_attempts']) {
          await execute(`alter table ${table} rename to elsewhere`);
          const failed = await write(log, epoch).then(
            () => false,
            () => true,
          );
          await execute(`alter table elsewhere rename to ${table}`);
          if (!failed) return;
          expect(await contents(log)).toEqual(before);
        }
        expect.unreachable('No table is needed.');
      });
    });
  });
}
