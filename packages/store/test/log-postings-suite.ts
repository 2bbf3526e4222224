import { beforeEach, describe, expect, it } from 'vitest';
import type { ChainPosting, LogStore, PostingPage } from '../../log/src/log-store.ts';
import type { Store } from '../src/store.ts';
import { attempt, HOUR, head, lead } from './log-fixtures.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

/** Posting `sequence`, of a tree of ten leaves for each. */
function posting(sequence: number, change: Partial<ChainPosting> = {}): ChainPosting {
  return {
    sequence,
    batchAt: HOUR + sequence * 60,
    ...head(sequence * 10),
    state: 'queued',
    nonce: sequence - 1,
    place: null,
    finalizedAt: null,
    ...change,
  };
}

function queue(log: LogStore, epoch: number, sequence: number): Promise<unknown> {
  return log.queuePosting(epoch, posting(sequence), attempt(sequence, sequence - 1));
}

/** The newest five postings. */
const ANY = { from: 0, to: 2 * HOUR, before: Number.MAX_SAFE_INTEGER, limit: 5 };

/** What {@link LogStore} says of postings, to be kept by every adapter. */
export function logPostingsSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the postings of the log`, () => {
    const { open, close } = useDatabase(createDatabase);
    let store: Store;
    let log: LogStore;
    let epoch: number;

    beforeEach(async () => {
      store = await open();
      log = store.log;
      epoch = await lead(log);
    });

    it('are none at first', async () => {
      expect(await log.newestPosting()).toBeNull();
      expect(await log.postingOf(0)).toBeNull();
      expect(await log.pageOfPostings(ANY)).toEqual([]);
      expect(await log.listAttempts(1)).toEqual([]);
    });

    it('come one after the other, each of a larger tree, with their first attempts', async () => {
      expect(await queue(log, epoch, 1)).toBe('queued');
      expect(await log.newestPosting()).toEqual(posting(1));
      expect(await log.listAttempts(1)).toEqual([attempt(1, 0)]);
      const outOfOrder = [posting(3), posting(1), posting(2, head(10)), posting(2, head(9))];
      for (const wrong of outOfOrder) {
        const queued = log.queuePosting(epoch, wrong, attempt(wrong.sequence, 7));
        await expect(queued).rejects.toThrow(RangeError);
      }
      await expect(log.queuePosting(epoch, posting(2), attempt(3, 1))).rejects.toThrow(RangeError);
      expect(await queue(log, epoch, 2)).toBe('queued');
      await close(store);
      const again = (await open()).log;
      expect(await again.newestPosting()).toEqual(posting(2));
      expect(await collect(again.listPostings())).toEqual([posting(1), posting(2)]);
      expect(await again.pageOfPostings({ ...ANY, limit: 1 })).toEqual([posting(2)]);
      expect(await again.pageOfPostings(ANY)).toEqual([posting(2), posting(1)]);
    });

    it('are listed newest first, in parts and by their scheduled time', async () => {
      for (const sequence of [1, 2, 3, 4]) await queue(log, epoch, sequence);
      const listed = async (change: Partial<typeof ANY>): Promise<number[]> =>
        (await log.pageOfPostings({ ...ANY, ...change })).map(({ sequence }) => sequence);
      expect(await listed({})).toEqual([4, 3, 2, 1]);
      expect(await listed({ before: 4, limit: 2 })).toEqual([3, 2]);
      expect(await listed({ from: HOUR + 120, to: HOUR + 240 })).toEqual([3, 2]);
    });

    it('are listed by their state, their transaction and their size', async () => {
      for (const sequence of [1, 2, 3]) await queue(log, epoch, sequence);
      const { txHash } = attempt(2, 1);
      const found = await log.listAttempts(2);
      const block = {
        txHash: found[0]?.txHash ?? txHash,
        blockHeight: 7,
        blockHash: '0xabc',
        blockTime: HOUR,
      };
      await log.movePosting(epoch, 2, { state: 'confirmed', place: block, finalizedAt: null });
      const listed = async (change: Partial<PostingPage>): Promise<number[]> =>
        (await log.pageOfPostings({ ...ANY, ...change })).map(({ sequence }) => sequence);
      expect(await listed({ state: 'queued' })).toEqual([3, 1]);
      expect(await listed({ state: 'queued', before: 3, limit: 1 })).toEqual([1]);
      expect(await listed({ state: 'finalized' })).toEqual([]);
      expect(await listed({ txHash: block.txHash })).toEqual([2]);
      expect(await listed({ txHash: block.txHash, state: 'queued' })).toEqual([]);
      // It is an attempt, and no block has it.
      expect(await listed({ txHash: (await log.listAttempts(1))[0]?.txHash ?? null })).toEqual([]);
      expect(await listed({ size: posting(3).size })).toEqual([3]);
      expect(await listed({ size: posting(3).size, state: 'confirmed' })).toEqual([]);
      expect(await listed({ size: 1 })).toEqual([]);
    });

    it('are found by time: the first that was scheduled then or later', async () => {
      expect(await log.firstPostingsAt([0])).toEqual([1]);
      for (const sequence of [1, 2, 3]) await queue(log, epoch, sequence);
      const { batchAt } = posting(2);
      expect(await log.firstPostingsAt([batchAt, 0, batchAt + 1, 2 * HOUR])).toEqual([2, 1, 3, 4]);
    });

    it('are found by a leaf: the first whose tree holds it', async () => {
      for (const sequence of [1, 2, 3]) await queue(log, epoch, sequence);
      const found = await Promise.all([0, 9, 10, 29, 30].map((index) => log.postingOf(index)));
      expect(found.map((posting) => posting?.sequence)).toEqual([1, 1, 2, 3, undefined]);
    });

    it('move through their states, into a block and out of it again', async () => {
      await queue(log, epoch, 1);
      await queue(log, epoch, 2);
      const { txHash } = attempt(1, 0);
      const place = { txHash, blockHeight: 7, blockHash: '0xabc', blockTime: HOUR + 3 };
      const moves = [
        { state: 'broadcast', place: null, finalizedAt: null },
        { state: 'confirmed', place, finalizedAt: null },
        { state: 'broadcast', place: null, finalizedAt: null },
        { state: 'finalized', place, finalizedAt: HOUR + 900 },
      ] as const;
      for (const to of moves) {
        expect(await log.movePosting(epoch, 1, to)).toBe('moved');
        expect(await log.postingOf(0)).toEqual(posting(1, to));
      }
      expect(await log.newestPosting()).toEqual(posting(2));
      await expect(log.movePosting(epoch, 3, moves[0])).rejects.toThrow(RangeError);
    });

    it('take the nonce of their newest attempt, and keep all in order', async () => {
      await queue(log, epoch, 1);
      await log.movePosting(epoch, 1, { state: 'broadcast', place: null, finalizedAt: null });
      const attempts = [attempt(1, 0), attempt(1, 0, 'zz'), attempt(1, 5, 'aa'), attempt(1, 5, 'mm')];
      for (const next of attempts.slice(1)) expect(await log.addAttempt(epoch, next)).toBe('added');
      expect(await log.newestPosting()).toEqual(posting(1, { nonce: 5 }));
      expect(await log.listAttempts(1)).toEqual(attempts);
      await expect(log.addAttempt(epoch, attempt(2, 6))).rejects.toThrow(RangeError);
      expect(await log.listAttempts(2)).toEqual([]);
    });

    it('are not moved back by an attempt that is repeated late', async () => {
      await queue(log, epoch, 1);
      const bumped = attempt(1, 0, 'bumped');
      await log.addAttempt(epoch, bumped);
      await log.movePosting(epoch, 1, { state: 'broadcast', place: null, finalizedAt: null });
      expect(await log.addAttempt(epoch, bumped)).toBe('added');
      expect(await queue(log, epoch, 1)).toBe('queued');
      expect(await log.newestPosting()).toMatchObject({ state: 'broadcast' });
    });

    it('are listed over pages', async () => {
      for (let sequence = 1; sequence <= 210; sequence += 1) await queue(log, epoch, sequence);
      const listed = await collect(log.listPostings());
      expect(listed).toEqual(times(210, (i) => posting(i + 1)));
    });
  });
}
