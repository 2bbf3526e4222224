import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiKeyRow, UNCHANGED_KEY } from '../../callers/src/api-key-store.ts';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

function key(id: string, change: Partial<ApiKeyRow> = {}): ApiKeyRow {
  return {
    id,
    hash: `hash of ${id}`,
    tier: 'pro',
    label: null,
    createdAt: 5,
    ...UNCHANGED_KEY,
    ...change,
  };
}

/** The guarantees of {@link ApiKeyStore}, to be kept by every adapter. */
export function apiKeySuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps API keys`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    it('which are found by their hash, by others at once', async () => {
      const row = key('key_a', { tier: 'scale', label: 'Acme — staging', expiresAt: 9 });
      await store.apiKeys.put(row);
      const other = await open();
      expect(await other.apiKeys.find(row.hash)).toEqual(row);
      expect(await other.apiKeys.find('another')).toBeNull();
      expect(await other.apiKeys.get('key_a')).toEqual(row);
      expect(await other.apiKeys.get('key_b')).toBeNull();
    });

    it('which requests read from memory, where own changes show at once and those of others within a second', async () => {
      const [row, changed] = [key('key_a'), key('key_b')];
      const other = await open();
      for (const one of [row, changed]) await store.apiKeys.put(one);
      await store.apiKeys.changeLimitsOf('did:key:z6Mk', () => '{"day_usdc":"1"}');
      const seen = (from: Store) =>
        Promise.all([
          from.apiKeys.inUse.find(row.hash),
          from.apiKeys.inUse.get('key_b'),
          from.apiKeys.inUse.limitsOf('did:key:z6Mk'),
        ]);
      const before = [row, changed, '{"day_usdc":"1"}'];
      expect(await seen(store)).toEqual(before);
      expect(await seen(other)).toEqual(before);
      await store.apiKeys.revoke('key_a', 7);
      await store.apiKeys.setRouting('key_b', '{}');
      await store.apiKeys.changeLimitsOf('did:key:z6Mk', () => null);
      const after = [{ ...row, revokedAt: 7 }, { ...changed, routing: '{}' }, null];
      expect(await seen(store)).toEqual(after);
      await setTimeout(1_050);
      expect(await seen(other)).toEqual(after);
    });

    it('and refuses a hash or id that is taken', async () => {
      await store.apiKeys.put(key('key_a'));
      await expect(store.apiKeys.put(key('key_a', { hash: 'other' }))).rejects.toThrow(/unique constraint/i);
      await expect(store.apiKeys.put(key('key_b', { hash: key('key_a').hash }))).rejects.toThrow(
        /unique constraint/i,
      );
      expect(await collect(store.apiKeys.list())).toEqual([key('key_a')]);
    });

    it('which are revoked once, and stay readable', async () => {
      await store.apiKeys.put(key('key_a'));
      await store.apiKeys.put(key('key_b'));
      expect(await store.apiKeys.revoke('key_c', 7)).toBe('unknown');
      expect(await store.apiKeys.revoke('key_a', 7)).toBe('revoked');
      expect(await store.apiKeys.revoke('key_a', 9)).toBe('already_revoked');
      expect(await store.apiKeys.find(key('key_a').hash)).toEqual(key('key_a', { revokedAt: 7 }));
      expect(await store.apiKeys.find(key('key_b').hash)).toEqual(key('key_b'));
    });

    it('and how their calls are routed', async () => {
      await store.apiKeys.put(key('key_a', { routing: '{}' }));
      await store.apiKeys.put(key('key_b'));
      expect(await store.apiKeys.setRouting('key_b', '{"cost_quality":1}')).toBe(true);
      expect(await store.apiKeys.setRouting('key_c', null)).toBe(false);
      const routings = async () => (await collect(store.apiKeys.list())).map(({ routing }) => routing);
      expect(await routings()).toEqual(['{}', '{"cost_quality":1}']);
      expect(await store.apiKeys.setRouting('key_a', null)).toBe(true);
      expect(await routings()).toEqual([null, '{"cost_quality":1}']);
    });

    it('which their owners make, change and list, newest first', async () => {
      const rows = times(5, (i) => key(`key_${i}`, { owner: 'key_0', createdAt: 5 + (i >> 1), manages: 0 }));
      for (const row of [key('key_0', { createdAt: 1 }), ...rows.slice(1)]) await store.apiKeys.put(row);
      await store.apiKeys.put(key('key_x', { owner: 'did:web:a' }));
      const page = async (limit: number, before?: { createdAt: number; id: string }) =>
        (await store.apiKeys.ofOwner('key_0', { limit, before })).map(({ id }) => id);
      expect(await page(9)).toEqual(['key_4', 'key_3', 'key_2', 'key_1', 'key_0']);
      expect(await page(2, { createdAt: 6, id: 'key_3' })).toEqual(['key_2', 'key_1']);
      const change = { label: 'b', limits: '{}', expiresAt: 9, manages: 1, keep: 1 } as const;
      expect(await store.apiKeys.change('key_1', () => change)).toEqual({ ...rows[1], ...change });
      expect(await store.apiKeys.change('key_9', () => change)).toBeNull();
      expect(await store.apiKeys.get('key_1')).toEqual({ ...rows[1], ...change });
      await store.apiKeys.used(
        new Map([
          ['key_1', 8],
          ['key_9', 8],
        ]),
      );
      await store.apiKeys.used(new Map([['key_1', 7]]));
      expect(await store.apiKeys.get('key_1')).toMatchObject({ lastUsedAt: 8 });
    });

    it('whose changes at once, by others too, all hold, as those of the limits of a DID', async () => {
      await store.apiKeys.put(key('key_a', { limits: '{}' }));
      const stores = [store, await open()];
      const one = (name: string) => (limits: string | null) =>
        JSON.stringify({ ...(JSON.parse(limits ?? '{}') as object), [name]: 1 });
      const names = times(20, (i) => `n${i}`);
      await Promise.all(
        names.flatMap((name, i) => {
          const { apiKeys } = stores[i % 2] ?? store;
          return [
            apiKeys.change('key_a', ({ limits }) => ({ limits: one(name)(limits) })),
            apiKeys.changeLimitsOf('did:web:a', one(name)),
          ];
        }),
      );
      const all = [(await store.apiKeys.get('key_a'))?.limits, await store.apiKeys.limitsOf('did:web:a')];
      for (const limits of all)
        expect(Object.keys(JSON.parse(limits ?? '{}') as object).toSorted()).toEqual(names.toSorted());
    });

    it('with the hash before a rotation, and the limits of DIDs', async () => {
      const row = key('key_a');
      await store.apiKeys.put(row);
      expect(await store.apiKeys.rotate('key_a', 'new', 9)).toBe(true);
      expect(await store.apiKeys.rotate('key_b', 'other', 9)).toBe(false);
      const rotated = { ...row, hash: 'new', previousHash: row.hash, previousUntil: 9 };
      expect(await store.apiKeys.find('new')).toEqual(rotated);
      expect(await store.apiKeys.find(row.hash)).toEqual(rotated);
      for (const limits of ['{}', '{"day_usdc":"1"}', null]) {
        await store.apiKeys.changeLimitsOf('did:web:a', () => limits);
        expect(await (await open()).apiKeys.limitsOf('did:web:a')).toBe(limits);
      }
    });

    it('which are listed oldest first, over pages', async () => {
      const keys = times(210, (i) => key(`key_${i}`, { createdAt: (i * 7) % 50 }));
      for (const row of keys) await store.apiKeys.put(row);
      const sorted = [...keys].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      expect(await collect(store.apiKeys.list())).toEqual(sorted);
    });
  });
}
