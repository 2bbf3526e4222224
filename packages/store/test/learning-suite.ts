import { beforeEach, describe, expect, it } from 'vitest';
import { LEARNED_SECONDS } from '../../inference/src/learning/learning-store.ts';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const NOW = 1_800_000_000;
const CALL = { receiptId: 'r1', account: 'caller:a', model: 'a/m', arm: null, expiresAt: NOW + 100 };
const GOOD = { score: 100, label: 'good', comment: 'é "quoted"' };

/** The guarantees of {@link LearningStore}, to be kept by every adapter. */
export function learningSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps what is learned`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    it('of all processes, of which none overwrites what another added', async () => {
      const stores = [store, await open(), await open()];
      const add = (model: string, state: string | null) =>
        `${Number(state ?? '0') + (model === 'b' ? 10 : 1)}`;
      const rounds = times(10, async () => {
        await Promise.all(
          stores.map(({ learning }, index) =>
            learning.update(index === 1 ? ['b', 'a'] : ['a', 'b'], NOW, add),
          ),
        );
      });
      await Promise.all(rounds);
      const rows = await store.learning.changed(NOW);
      expect(rows.toSorted((x, y) => (x.model < y.model ? -1 : 1))).toEqual([
        { model: 'a', state: '30', at: NOW },
        { model: 'b', state: '300', at: NOW },
      ]);
    });

    it('and tells what was written since', async () => {
      const { learning } = store;
      await learning.update(['a'], NOW, () => 'old');
      await learning.update(['b'], NOW + 5, () => 'new');
      const models = async (since: number) =>
        (await learning.changed(since)).map(({ model }) => model).sort();
      expect(await models(NOW)).toEqual(['a', 'b']);
      expect(await models(NOW + 1)).toEqual(['b']);
      expect(await models(NOW + 6)).toEqual([]);
    });

    it('until nobody has called the model for long', async () => {
      const { learning } = store;
      await learning.update(['a'], NOW, () => 'old');
      await learning.update(['b'], NOW + 1, () => 'new');
      expect(await learning.purge(NOW + LEARNED_SECONDS)).toBe(1);
      expect((await learning.changed(0)).map(({ model }) => model)).toEqual(['b']);
    });
  });

  describe(`${name} keeps ratings`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;

    beforeEach(async () => {
      store = await open();
      await store.learning.allowRatings([CALL, { ...CALL, receiptId: 'r2', arm: 'x:b' }]);
    });

    it('of which the first stands, whoever comes with another at once', async () => {
      const other = (await open()).learning;
      const bad = { score: 0, label: null, comment: null };
      const outcomes = await Promise.all([
        store.learning.rate('r1', 'caller:a', GOOD, NOW),
        other.rate('r1', 'caller:a', bad, NOW),
      ]);
      expect(outcomes.filter((outcome) => outcome?.isNew)).toHaveLength(1);
      expect(outcomes[0]?.rating).toEqual(outcomes[1]?.rating);
      const again = await store.learning.rate('r2', 'caller:a', GOOD, NOW + 1);
      expect(again).toEqual({
        ...CALL,
        receiptId: 'r2',
        arm: 'x:b',
        rating: GOOD,
        ratedAt: NOW + 1,
        isNew: true,
      });
    });

    it('by nobody but the account that made the call, in its time', async () => {
      const { learning } = store;
      expect(await learning.rate('r1', 'caller:b', GOOD, NOW)).toBeNull();
      expect(await learning.rate('r3', 'caller:a', GOOD, NOW)).toBeNull();
      expect(await learning.rate('r1', 'caller:a', GOOD, NOW + 100)).toBeNull();
      expect((await learning.rate('r1', 'caller:a', GOOD, NOW + 99))?.isNew).toBe(true);
    });

    it('and adds them up by model for the account', async () => {
      const { learning } = store;
      await learning.allowRatings([{ ...CALL, receiptId: 'r3', model: 'a/n' }]);
      const bad = { score: 30, label: null, comment: null };
      await learning.rate('r1', 'caller:a', GOOD, NOW);
      await learning.rate('r2', 'caller:a', bad, NOW);
      expect(await learning.ratings('caller:a', NOW)).toEqual([{ model: 'a/m', count: 2, score: 130 }]);
      expect(await learning.ratings('caller:b', NOW)).toEqual([]);
      expect(await learning.ratings('caller:a', NOW + 100)).toEqual([]);
    });

    it('also when the call is noted again, and until it expires', async () => {
      const { learning } = store;
      await learning.rate('r1', 'caller:a', GOOD, NOW);
      await learning.allowRatings([CALL]);
      expect((await learning.rate('r1', 'caller:a', GOOD, NOW))?.isNew).toBe(false);
      expect(await learning.purge(NOW + 99)).toBe(0);
      expect(await learning.purge(NOW + 100, 1)).toBe(1);
      expect(await learning.purge(NOW + 100)).toBe(1);
    });
  });
}
