import type { NewReceipt, SessionRow } from '@tallystick/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { ACCOUNT, credit, NOW, reserve, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

const SESSION: SessionRow = { id: 'a'.repeat(32), owner: ACCOUNT, anchor: 1 };

function step(seq: number, id = `r${seq}`, session = SESSION): NewReceipt {
  const body = `{"id":"${id}"}`;
  const place = { session, seq };
  return { id, profile: 'standard', tenant: null, body, issuedAt: NOW, expiresAt: NOW + 100 + seq, place };
}

/** The guarantees of {@link SessionStore}, and of what `putReceipt` says of places, to be kept by every adapter. */
export function sessionSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps sessions`, () => {
    const { open, close } = useDatabase(createDatabase);
    let store: Store;
    let other: Store;

    beforeEach(async () => {
      store = await open();
      other = await open();
    });

    const bodies = async (id: string, now = NOW): Promise<string[]> =>
      (await collect(other.sessions.list(id, now))).map(({ seq, body }) => `${seq} ${body}`);

    it('with the receipt of each place, also after a reopen', async () => {
      expect(await store.sessions.newest(SESSION.id)).toBeNull();
      expect(await store.sessions.at(SESSION.id, 0)).toBeNull();
      for (const seq of [0, 1, 2]) expect(await store.putReceipt(step(seq))).toEqual({ kind: 'stored' });
      await store.putReceipt(step(0, 'of another', { ...SESSION, id: 'b'.repeat(32) }));
      await close(store);
      const again = await open();
      const { body, expiresAt } = step(2);
      expect(await again.sessions.newest(SESSION.id)).toEqual({
        ...SESSION,
        seq: 2,
        body,
        expiresAt,
        account: null,
      });
      expect(await again.sessions.at(SESSION.id, 1)).toMatchObject({ seq: 1, body: step(1).body });
      expect(await again.sessions.at(SESSION.id, 3)).toBeNull();
      expect(await bodies(SESSION.id)).toEqual(times(3, (seq) => `${seq} {"id":"r${seq}"}`));
      expect(await again.getReceipt('r1')).toMatchObject({ kind: 'found', body: step(1).body });
    });

    it('and gives a place once, whoever asks at the same time over two connections', async () => {
      for (const seq of times(4, (at) => at)) {
        const rows = times(40, (at) => step(seq, `r${seq}-${at}`));
        const outcomes = await Promise.all(rows.map((row, at) => (at % 2 ? store : other).putReceipt(row)));
        expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
        expect(outcomes.filter(({ kind }) => kind === 'place_taken')).toHaveLength(39);
        const kept = await Promise.all(rows.map(({ id }) => store.getReceipt(id)));
        expect(kept.map(({ kind }) => kind === 'found')).toEqual(
          outcomes.map(({ kind }) => kind === 'stored'),
        );
      }
      expect((await collect(store.sessions.list(SESSION.id, NOW))).map(({ seq }) => seq)).toEqual([
        0, 1, 2, 3,
      ]);
    });

    it('and takes no place, and no idempotency key, for a receipt that is not stored', async () => {
      await store.putReceipt(step(0));
      const key = { scope: 's', requestHash: 'a', expiresAt: NOW + 50 };
      expect(await store.putReceipt(step(1, 'r0'), key)).toEqual({ kind: 'id_taken' });
      expect(await store.putReceipt(step(0, 'late'), key)).toEqual({ kind: 'place_taken' });
      expect(await store.findIdempotent('s', 'a', NOW)).toBeNull();
      expect(await store.sessions.at(SESSION.id, 1)).toBeNull();
      expect(await store.putReceipt(step(1), key)).toEqual({ kind: 'stored' });
      expect(await store.putReceipt(step(2), key)).toEqual({ kind: 'replayed', response: step(1).body });
      expect(await store.sessions.newest(SESSION.id)).toMatchObject({ seq: 1 });
    });

    it('whose receipts come in any order, many at once', async () => {
      const ids = times(30, (at) => at.toString(16).padStart(32, '0'));
      const rows = ids.flatMap((id) => times(5, (seq) => step(seq, `${id}-${seq}`, { ...SESSION, id })));
      const outcomes = await Promise.all([...rows, ...rows.toReversed()].map((row) => store.putReceipt(row)));
      expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(rows.length);
      for (const id of ids) expect(await bodies(id)).toHaveLength(5);
    });

    it('and books no settlement whose place is taken', async () => {
      await credit(store.ledger, ACCOUNT, 100n);
      const settle = async (seq: number, id: string) => {
        await reserve(store.ledger, id, 10n);
        return store.ledger.settle({ ...settlement(id, 10n), receipt: step(seq, id) });
      };
      expect(await settle(0, 'first')).toBe('settled');
      expect(await settle(0, 'second')).toBe('place_taken');
      expect(await store.ledger.balance(ACCOUNT)).toMatchObject({ balance: 90n, reserved: 0n });
      expect(await store.getReceipt('second')).toEqual({ kind: 'unknown' });
      expect(await bodies(SESSION.id)).toEqual(['0 {"id":"first"}']);
    });

    it('and keeps the places of receipts that it has purged', async () => {
      for (const seq of [0, 1, 2]) await store.putReceipt(step(seq));
      expect(await bodies(SESSION.id, NOW + 101)).toEqual(['2 {"id":"r2"}']);
      await store.purge(NOW + 101);
      expect(await bodies(SESSION.id)).toEqual(['2 {"id":"r2"}']);
      expect(await store.sessions.at(SESSION.id, 0)).toMatchObject({ seq: 0, body: null });
      expect(await store.putReceipt(step(0, 'again'))).toEqual({ kind: 'place_taken' });
      await store.purge(NOW + 102);
      expect(await store.sessions.newest(SESSION.id)).toMatchObject({ ...SESSION, seq: 2, body: null });
    });
  });
}
