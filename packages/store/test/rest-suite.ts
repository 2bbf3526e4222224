import type { ToldRest } from '@tallystick/inference';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, useDatabase } from './test-database.ts';

const rest = (model: string, remainingMs = 60_000, why = 'overloaded'): ToldRest => ({
  model,
  why,
  remainingMs,
});

/** The guarantees of {@link RestStore}, to be kept by every adapter. */
export function restSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} tells processes which models rest`, () => {
    const { open } = useDatabase(createDatabase);
    let a: Store;
    let b: Store;
    beforeEach(async () => {
      [a, b] = [await open(), await open()];
    });

    it('at once, and each only what others told', async () => {
      await a.rests.tell('a', [rest('x/1'), rest('x/2', 3_600_000, 'gone')]);
      await b.rests.tell('b', [rest('x/1', 30_000)]);
      const heard = await b.rests.toldByOthers('b');
      expect(heard.map(({ model, why }) => `${model} ${why}`).toSorted()).toEqual([
        'x/1 overloaded',
        'x/2 gone',
      ]);
      const gone = heard.find(({ why }) => why === 'gone');
      expect(gone?.remainingMs).toBeGreaterThan(3_500_000);
      expect(gone?.remainingMs).toBeLessThanOrEqual(3_600_000);
      expect(await a.rests.toldByOthers('a')).toMatchObject([{ model: 'x/1' }]);
    });

    it('until they tell something else, or the rest has ended', async () => {
      await a.rests.tell('a', [rest('x/1'), rest('x/2')]);
      await a.rests.tell('a', [rest('x/2'), rest('x/3', 0)]);
      expect(await b.rests.toldByOthers('b')).toMatchObject([{ model: 'x/2' }]);
      await a.rests.tell('a', []);
      expect(await b.rests.toldByOthers('b')).toEqual([]);
    });

    it('and what the operator orders, of which the newest counts', async () => {
      await a.rests.tell('a', [rest('x/1')]);
      await a.rests.order([rest('x/2', 60_000, 'rested'), rest('x/1', 60_000, 'rested'), rest('x/3', 0)]);
      await b.rests.order([rest('x/2', 30_000, 'resumed')]);
      const told = async (rests: Promise<ToldRest[]>) =>
        (await rests).map(({ model, why }) => `${model} ${why}`).toSorted();
      expect(await told(b.rests.ordered())).toEqual(['x/1 rested', 'x/2 resumed']);
      expect(await told(a.rests.toldByOthers('a'))).toEqual(['x/1 rested', 'x/2 resumed']);
      await a.rests.tell('a', []);
      expect(await told(b.rests.toldByOthers('b'))).toEqual(['x/1 rested', 'x/2 resumed']);
    });

    it('also when they all tell at the same time', async () => {
      const each = Array.from({ length: 20 }, (_, at) => `p${at}`);
      await Promise.all(
        each.map((process, at) => (at % 2 ? a : b).rests.tell(process, [rest('x/1'), rest('x/2', 0)])),
      );
      expect(await a.rests.toldByOthers('p0')).toHaveLength(19);
    });
  });
}
