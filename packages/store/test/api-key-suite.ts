import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyRow } from '../../callers/src/api-key-store.ts';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

function key(id: string, change: Partial<ApiKeyRow> = {}): ApiKeyRow {
  return {
    id,
    hash: `hash of ${id}`,
    tier: 'pro',
    label: null,
    createdAt: 5,
    revokedAt: null,
    expiresAt: null,
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

    it('which are listed oldest first, over pages', async () => {
      const keys = times(210, (i) => key(`key_${i}`, { createdAt: (i * 7) % 50 }));
      for (const row of keys) await store.apiKeys.put(row);
      const sorted = [...keys].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      expect(await collect(store.apiKeys.list())).toEqual(sorted);
    });
  });
}
