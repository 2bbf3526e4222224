import { beforeEach, describe, expect, it } from 'vitest';
import type { Claim, ClaimStore } from '../../ledger/src/claim-store.ts';
import type { Store } from '../src/store.ts';
import { ACCOUNT, credit, NOW, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const TAKEN = { kind: 'taken' };
const HELD = { kind: 'held', live: true };

let tokens = 0;

function claim(scope: string, change: Partial<Claim> = {}): Claim {
  tokens += 1;
  return { scope, requestHash: 'a', process: 'one', token: `token-${tokens}`, ...change };
}

/** The guarantees of {@link ClaimStore}, and of the reservations that end with a lease, to be kept by every adapter. */
export function claimSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps leases and claims`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    let other: Store;
    let claims: ClaimStore;

    beforeEach(async () => {
      store = await open();
      other = await open();
      ({ claims } = store);
      await claims.renewLease('one', 60);
      await other.claims.renewLease('two', 60);
    });

    const record = (scope: string, requestHash = 'a') => ({ scope, requestHash, expiresAt: NOW + 50 });

    describe('claims', () => {
      it('are given to one of many that ask at once, over two connections', async () => {
        for (const scope of ['a', 'b', 'c']) {
          const outcomes = await Promise.all(
            times(40, (i) =>
              (i % 2 ? store : other).claims.take(claim(scope, { process: i % 2 ? 'one' : 'two' })),
            ),
          );
          expect(outcomes.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
          expect(outcomes.filter((outcome) => outcome.kind !== 'taken')).toEqual(times(39, () => HELD));
        }
      });

      it('refuse another request under the key at once', async () => {
        const outcomes = await Promise.all(
          ['a', 'b', 'a'].map((requestHash) => claims.take(claim('s', { requestHash }))),
        );
        expect(outcomes).toEqual([TAKEN, { kind: 'reused' }, HELD]);
        expect(await other.claims.take(claim('s', { requestHash: 'c', process: 'two' }))).toEqual({
          kind: 'reused',
        });
      });

      it('are free after their release, and only after their own', async () => {
        const first = claim('s');
        expect(await claims.take(first)).toEqual(TAKEN);
        await other.claims.release({ scope: 's', token: 'another' });
        expect(await other.claims.take(claim('s'))).toEqual(HELD);
        await claims.release(first);
        const second = claim('s', { process: 'two' });
        expect(await other.claims.take(second)).toEqual(TAKEN);
        await claims.release(first);
        expect(await claims.take(claim('s'))).toEqual(HELD);
      });

      it('are not given where the request was answered', async () => {
        const first = claim('s');
        await claims.take(first);
        const { receipt } = settlement('r', 0n);
        await store.putReceipt(receipt, { ...record('s'), response: 'the answer' });
        const replayed = { kind: 'replayed', response: 'the answer' };
        expect(await other.claims.take(claim('s'))).toEqual(replayed);
        await claims.release(first);
        expect(await other.claims.take(claim('s'))).toEqual(replayed);
        expect(await other.claims.take(claim('s', { requestHash: 'b' }))).toEqual({ kind: 'reused' });
        // Asking has left no claim behind.
        await store.purge(NOW + 60);
        expect(await claims.take(claim('s', { requestHash: 'b' }))).toEqual(TAKEN);
      });

      it('see the record of the claimant that ends while they are asked for', async () => {
        for (const round of times(20, (i) => i)) {
          const scope = `s${round}`;
          const first = claim(scope);
          await claims.take(first);
          const { receipt } = settlement(scope, 0n);
          const settled = store.putReceipt(receipt, record(scope)).then(() => claims.release(first));
          const outcomes = [];
          for (;;) {
            const outcome = await other.claims.take(claim(scope, { process: 'two' }));
            outcomes.push(outcome.kind);
            if (outcome.kind !== 'held') break;
          }
          expect(outcomes.at(-1)).toBe('replayed');
          await settled;
        }
      });

      it('end with the lease of their process, whose late release frees nobody else’s', async () => {
        const lost = claim('s', { process: 'dead' });
        await claims.renewLease('dead', 60);
        await claims.take(lost);
        await claims.take(claim('live'));
        await claims.renewLease('dead', 0);
        expect(await other.claims.take(claim('s', { requestHash: 'b' }))).toEqual({
          kind: 'held',
          live: false,
        });
        await other.claims.forgetDead();
        expect(await other.claims.take(claim('s', { process: 'two', requestHash: 'b' }))).toEqual(TAKEN);
        await claims.release(lost);
        expect(await claims.take(claim('s', { requestHash: 'b' }))).toEqual(HELD);
        expect(await claims.take(claim('live'))).toEqual(HELD);
      });

      it('of a process that was never there, or that has resigned, are those of a dead one', async () => {
        await claims.take(claim('s', { process: 'never' }));
        await claims.take(claim('t', { process: 'two' }));
        await other.claims.endLease('two');
        await other.claims.endLease('two');
        for (const scope of ['s', 't'])
          expect(await claims.take(claim(scope))).toEqual({ kind: 'held', live: false });
        await claims.forgetDead();
        for (const scope of ['s', 't']) expect(await claims.take(claim(scope))).toEqual(TAKEN);
      });

      it('are taken and released in any order by two at once, and none waits for ever', async () => {
        const scopes = times(30, (i) => `scope-${(i * 7) % 30}`);
        const work = async ({ claims: mine }: Store, process: string, order: readonly string[]) => {
          for (const _ of times(15, (i) => i)) {
            const asked = order.map((scope) => claim(scope, { process }));
            const outcomes = await Promise.all(asked.map((one) => mine.take(one)));
            const won = asked.filter((_one, index) => outcomes[index]?.kind === 'taken');
            await Promise.all([mine.forgetDead(), ...won.toReversed().map((one) => mine.release(one))]);
          }
        };
        await Promise.all([work(store, 'one', scopes), work(other, 'two', scopes.toReversed())]);
        expect(await claims.take(claim('scope-0'))).toEqual(TAKEN);
      });
    });

    it('give and end claims at the same moment, over two connections, and none waits for ever', async () => {
      for (const round of times(30, (i) => i)) {
        const [mine, theirs] = [claim(`z${round}`), claim(`a${round}`, { process: 'two' })];
        await Promise.all([claims.take(mine), other.claims.take(theirs)]);
        const outcomes = await Promise.all([
          claims.take(claim(theirs.scope)),
          other.claims.take(claim(mine.scope, { process: 'two' })),
          claims.release(mine),
          other.claims.release(theirs),
        ]);
        for (const outcome of outcomes.slice(0, 2)) expect([TAKEN, HELD]).toContainEqual(outcome);
      }
    });

    describe('reservations of a process', () => {
      const reserve = (id: string, process: string | null) =>
        store.ledger.reserve({ id, account: ACCOUNT, amount: 10n, expiresAt: NOW + 600, process });

      it('end with its lease, and no others do', async () => {
        await credit(store.ledger, ACCOUNT, 100n);
        await claims.renewLease('dead', 60);
        await Promise.all([
          reserve('a', 'dead'),
          reserve('b', 'one'),
          reserve('c', null),
          reserve('d', 'dead'),
        ]);
        expect(await other.ledger.expireReservations(NOW)).toBe(0);
        await claims.renewLease('dead', 0);
        expect(await other.ledger.expireReservations(NOW)).toBe(2);
        expect(await store.ledger.balance(ACCOUNT)).toMatchObject({ balance: 100n, reserved: 20n });
        await other.claims.forgetDead();
        expect(await other.ledger.expireReservations(NOW)).toBe(0);
        expect(await other.ledger.expireReservations(NOW + 600)).toBe(2);
        expect((await store.ledger.checkBalanced()).faults).toEqual([]);
      });

      it('are lost to a process that wakes after its lease, which settles with a new one', async () => {
        await credit(store.ledger, ACCOUNT, 100n);
        await claims.renewLease('dead', 60);
        await reserve('a', 'dead');
        await claims.renewLease('dead', 0);
        await other.ledger.expireReservations(NOW);
        expect(await store.ledger.settle(settlement('a', 7n))).toBe('unreserved');
        expect(await store.ledger.balance(ACCOUNT)).toMatchObject({ balance: 100n, reserved: 0n });
        await claims.renewLease('dead', 60);
        await reserve('a/2', 'dead');
        expect(await store.ledger.settle(settlement('a', 7n, { reservationId: 'a/2' }))).toBe('settled');
        expect(await store.ledger.balance(ACCOUNT)).toMatchObject({ balance: 93n, reserved: 0n });
        expect((await store.ledger.checkBalanced()).faults).toEqual([]);
      });
    });
  });
}
