import type { ContentRow } from '@tallystick/inference';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const NOW = 1_800_000_000;
const NEWEST = { at: 1e15, id: '' };

const content = (id: string, change: Partial<ContentRow> = {}): ContentRow => ({
  id,
  owner: 'caller:a',
  key: 'key_a',
  expiresAt: NOW + 1,
  sealed: Uint8Array.of(0, 255, 39, 92, 10),
  ...change,
});

/** The guarantees of {@link ContentStore}, to be kept by every adapter. */
export function contentSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps contents of calls`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    let other: Store;
    beforeEach(async () => {
      store = await open();
      other = await open();
    });

    it('as they were written first, for their owners alone', async () => {
      const long = content('b', { key: null, sealed: new Uint8Array(1_500_000).fill(7) });
      await store.contents.put([content('a'), long]);
      await other.contents.put([content('a', { owner: 'caller:b', key: 'key_b' }), content('c')]);
      const found = await other.contents.find('caller:a', 'a');
      expect(found && { ...found, sealed: [...found.sealed] }).toEqual({
        ...content('a'),
        sealed: [0, 255, 39, 92, 10],
      });
      const again = await store.contents.find('caller:a', 'b');
      expect(again?.sealed.length).toBe(1_500_000);
      expect(again?.key).toBeNull();
      expect(await store.contents.find('caller:b', 'a')).toBeNull();
      expect(await store.contents.find('caller:a', 'none')).toBeNull();
    });

    it('until their owners delete them', async () => {
      await store.contents.put([content('a'), content('b')]);
      await other.contents.remove('caller:b', 'a');
      expect(await store.contents.find('caller:a', 'a')).not.toBeNull();
      await other.contents.remove('caller:a', 'a');
      expect(await store.contents.find('caller:a', 'a')).toBeNull();
      expect(await store.contents.find('caller:a', 'b')).not.toBeNull();
    });

    it('until they expire, and deletes them in steps', async () => {
      await store.contents.put(times(5, (at) => content(`c${at}`, { expiresAt: NOW + at })));
      expect(await store.contents.purge(NOW + 2, 2)).toBe(2);
      expect(await store.contents.purge(NOW + 2, 2)).toBe(1);
      expect(await store.contents.purge(NOW + 2, 2)).toBe(0);
      expect(await store.contents.find('caller:a', 'c2')).toBeNull();
      expect(await store.contents.find('caller:a', 'c3')).not.toBeNull();
    });

    it('and says of each call in the list whether it has any', async () => {
      const call = { owner: 'caller:a', at: NOW, receiptId: null, model: null, requestedModel: 'auto' };
      const unknown = { provider: null, routeReason: null, promptTokens: null, completionTokens: null };
      const free = { cachedTokens: null, cost: 0n, saving: 0n, firstByteMs: null, totalMs: null };
      const rest = { stream: 0, status: 200, errorCode: null, did: null, key: null, session: null };
      const row = { ...call, ...unknown, ...free, ...rest, tags: null, requestHash: null, detail: null };
      await store.calls.put([
        { ...row, id: 'a' },
        { ...row, id: 'b' },
      ]);
      await store.contents.put([content('a')]);
      const page = await store.calls.page({ owner: 'caller:a', from: 0, before: NEWEST, limit: 9 });
      expect(page.map(({ id, contentKept }) => [id, contentKept])).toEqual([
        ['b', 0],
        ['a', 1],
      ]);
      expect((await store.calls.find('caller:a', 'a'))?.row.contentKept).toBe(1);
    });
  });
}
