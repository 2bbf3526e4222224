import { beforeEach, describe, expect, it } from 'vitest';
import type { OperatorKeyRow } from '../../callers/src/operator-keys.ts';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, useDatabase } from './test-database.ts';

const key = (id: string): OperatorKeyRow => ({
  id,
  hash: `hash of ${id}`,
  label: 'on call',
  createdAt: 5,
  revokedAt: null,
});

/** The guarantees of {@link OperatorKeyStore} and {@link OperationsStore}, to be kept by every adapter. */
export function operatorSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps what operators need`, () => {
    const { open, execute } = useDatabase(createDatabase);
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    it('keys, which are found by their hash and revoked once, by others at once', async () => {
      const { operatorKeys } = store;
      const other = (await open()).operatorKeys;
      await operatorKeys.put(key('opk_b'));
      await other.put({ ...key('opk_a'), label: null });
      await expect(operatorKeys.put({ ...key('opk_c'), hash: key('opk_a').hash })).rejects.toThrow(
        /unique constraint/i,
      );
      expect(await other.find('hash of opk_b')).toEqual(key('opk_b'));
      expect(await other.find('another')).toBeNull();
      expect(await operatorKeys.revoke('opk_x', 7)).toBe('unknown');
      expect(await operatorKeys.revoke('opk_b', 7)).toBe('revoked');
      expect(await other.revoke('opk_b', 9)).toBe('already_revoked');
      expect(await other.list()).toEqual([
        { ...key('opk_a'), label: null },
        { ...key('opk_b'), revokedAt: 7 },
      ]);
      // A caller's key is another thing, whatever its hash.
      expect(await store.apiKeys.find('hash of opk_a')).toBeNull();
    });

    it('a look over the whole service', async () => {
      expect(await store.operations.look(9)).toMatchObject({
        logLease: null,
        postings: {},
        checkpoints: [],
        refunds: [],
        payouts: {},
      });
      await store.log.acquireLease('the leader', 60);
      const payout = (id: string, kind: string, state: string, at: number): Promise<void> =>
        execute(
          `insert into payouts (id, kind, state, network, account, address, amount, reason, created_at)
           values ('${id}', '${kind}', '${state}', 'eip155:8453', 'refunds', '0xa', 9007199254740993, 'no_order', ${at})`,
        );
      await payout('p1', 'refund', 'waiting', 2);
      await payout('p2', 'refund', 'paying', 1);
      await payout('p3', 'refund', 'paid', 0);
      await payout('p4', 'withdrawal', 'waiting', 0);
      for (const size of [1, 2])
        await execute(`insert into checkpoints (size, root, note) values (${size}, '', 'note ${size}')`);
      const found = await store.operations.look(1);
      expect(found).toMatchObject({
        processes: expect.any(Number) as number,
        logLease: { holder: 'the leader' },
        checkpoints: [
          { size: 2, note: 'note 2' },
          { size: 1, note: 'note 1' },
        ],
        payouts: { refund: 2, withdrawal: 1 },
      });
      expect(found.schemaVersion).toBeGreaterThanOrEqual(19);
      expect(found.logLease?.seconds).toBeGreaterThan(50);
      expect(found.refunds).toEqual([
        {
          id: 'p2',
          state: 'paying',
          network: 'eip155:8453',
          address: '0xa',
          amount: '9007199254740993',
          reason: 'no_order',
          createdAt: 1,
          note: null,
        },
      ]);
    });
  });
}
