import { nextStreamHead, sha256, streamStart, utf8 } from '@tallystick/core';
import type { NewReceipt } from '@tallystick/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { ACCOUNT, credit, NOW, reserve, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

const TENANT = 't_0123456789abcdef';
const OF_TENANT = `tenant:${TENANT}`;

const hashOf = (id: string): Uint8Array => sha256(utf8(id));

function receipt(id: string, change: Partial<NewReceipt> = {}): NewReceipt {
  const body = `{"id":"${id}"}`;
  const row = { id, profile: 'standard', tenant: null, body, issuedAt: NOW, expiresAt: NOW + 100 } as const;
  return { ...row, anchored: () => hashOf(id), ...change };
}

/** The guarantees of {@link StreamStore}, and of what `putReceipt` and settlements add, to be kept by every adapter. */
export function streamSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps streams`, () => {
    const { open, close } = useDatabase(createDatabase);
    let store: Store;
    let other: Store;

    beforeEach(async () => {
      store = await open();
      other = await open();
    });

    /** The hashes of a stream, once its rounds follow one another and lead to its head. */
    async function chained(id: string): Promise<string[]> {
      const [stream, rounds] = [await other.streams.get(id), await other.streams.rounds(id, 1, 10_000)];
      const hashes: Uint8Array[] = [];
      for (const { first, hashes: bytes } of rounds) {
        expect(first).toBe(hashes.length + 1);
        for (let at = 0; at < bytes.length; at += 32) hashes.push(bytes.slice(at, at + 32));
      }
      const head = hashes.reduce((one, hash) => nextStreamHead(one, hash), streamStart(id));
      expect(stream).toMatchObject({ id, size: hashes.length });
      expect(Buffer.from(stream?.head ?? []).equals(head)).toBe(true);
      return hashes.map((hash) => Buffer.from(hash).toString('hex'));
    }
    const hexOf = (ids: readonly string[]): string[] =>
      ids.map((id) => Buffer.from(hashOf(id)).toString('hex'));

    it('of a tenant from its first receipt on, and of others once they are opened', async () => {
      await store.putReceipt(receipt('a', { tenant: TENANT }));
      await store.putReceipt(receipt('b', { tenant: TENANT, owner: OF_TENANT }));
      await store.putReceipt(receipt('c', { owner: ACCOUNT }));
      await store.putReceipt(receipt('d'));
      expect(await chained(OF_TENANT)).toEqual(hexOf(['a', 'b']));
      expect(await store.streams.get(ACCOUNT)).toBeNull();
      const row = { id: ACCOUNT, since: NOW + 1, size: 0, head: streamStart(ACCOUNT) };
      await store.streams.open(row);
      await store.streams.open({ ...row, since: NOW + 9 });
      await store.putReceipt(receipt('e', { owner: ACCOUNT }));
      await store.putReceipt(receipt('f', { owner: ACCOUNT, anchored: undefined }));
      expect(await chained(ACCOUNT)).toEqual(hexOf(['e']));
      expect(await store.streams.get(ACCOUNT)).toMatchObject({ since: NOW + 1 });
    });

    it('in one order whichever process stores, and one row a round', async () => {
      const ids = times(300, (at) => `r${String(at).padStart(3, '0')}`);
      const tenants = (at: number): string => (at % 3 === 0 ? 't_000000000000000b' : TENANT);
      await Promise.all(
        ids.map((id, at) => (at % 2 ? store : other).putReceipt(receipt(id, { tenant: tenants(at) }))),
      );
      const own = await chained(OF_TENANT);
      expect(own.toSorted()).toEqual(hexOf(ids.filter((_, at) => at % 3 !== 0)).toSorted());
      expect(await chained('tenant:t_000000000000000b')).toHaveLength(100);
      expect((await store.streams.rounds(OF_TENANT, 1, 1000)).length).toBeLessThan(50);
      const [round] = await store.streams.rounds(OF_TENANT, 150, 1);
      expect(round?.first).toBeLessThanOrEqual(150);
      expect((round?.first ?? 0) + (round?.hashes.length ?? 0) / 32).toBeGreaterThan(150);
    });

    it('without what was not stored, and with what a settlement stored', async () => {
      await store.putReceipt(receipt('a', { tenant: TENANT }));
      expect(await store.putReceipt(receipt('a', { tenant: TENANT }))).toEqual({ kind: 'id_taken' });
      expect(await chained(OF_TENANT)).toEqual(hexOf(['a']));
      await store.streams.open({ id: ACCOUNT, since: NOW, size: 0, head: streamStart(ACCOUNT) });
      await credit(store.ledger, ACCOUNT, 1_000n);
      await reserve(store.ledger, 'one', 100n);
      const settled = settlement('one', 100n);
      const row = { ...settled.receipt, owner: ACCOUNT, anchored: () => hashOf('call') };
      expect(await store.ledger.settle({ ...settled, receipt: row })).toBe('settled');
      expect(await chained(ACCOUNT)).toEqual(hexOf(['call']));
    });

    it('when the receipts are purged, and after a reopen', async () => {
      for (const id of ['a', 'b', 'c']) await store.putReceipt(receipt(id, { tenant: TENANT }));
      expect((await store.purge(NOW + 1_000)).receipts).toBe(3);
      await close(store);
      store = await open();
      expect(await chained(OF_TENANT)).toEqual(hexOf(['a', 'b', 'c']));
    });

    it('with each head once, and says which streams have grown since theirs', async () => {
      const grown = async (): Promise<string[]> => (await collect(store.streams.grown())).map(({ id }) => id);
      for (const id of ['a', 'b', 'c']) await store.putReceipt(receipt(id, { tenant: TENANT }));
      expect(await grown()).toEqual([OF_TENANT]);
      const head = (sequence: number, size: number) => ({
        stream: OF_TENANT,
        sequence,
        size,
        at: NOW + sequence,
        body: `{"n":${sequence}}`,
      });
      expect(await store.streams.newestHead(OF_TENANT)).toBeNull();
      expect(await store.streams.putHead(head(1, 2))).toBe('stored');
      expect(await other.streams.putHead({ ...head(1, 3), body: '{}' })).toBe('stale');
      expect(await grown()).toEqual([OF_TENANT]);
      expect(await store.streams.putHead(head(2, 3))).toBe('stored');
      expect(await grown()).toEqual([]);
      expect(await other.streams.newestHead(OF_TENANT)).toEqual(head(2, 3));
      expect(await other.streams.heads(OF_TENANT, 0, 10)).toEqual([head(1, 2), head(2, 3)]);
      expect(await other.streams.heads(OF_TENANT, 1, 10)).toEqual([head(2, 3)]);
      expect(await other.streams.headBefore(OF_TENANT, NOW + 1, 9)).toEqual(head(1, 2));
      expect(await other.streams.headBefore(OF_TENANT, NOW + 9, 2)).toEqual(head(1, 2));
      expect(await other.streams.headBefore(OF_TENANT, NOW, 9)).toBeNull();
    });
  });
}
