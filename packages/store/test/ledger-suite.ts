import { beforeEach, describe, expect, it } from 'vitest';
import type { LedgerStore } from '../../ledger/src/ledger-store.ts';
import type { Store } from '../src/store.ts';
import { ACCOUNT, credit, NOW, reserve, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const reserved = (available: bigint | null, dust = 0n) => ({
  kind: 'reserved',
  dust,
  available,
  windows: [],
});

/** The guarantees of {@link LedgerStore}, to be kept by every adapter. */
export function ledgerSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the ledger`, () => {
    const { open, close, execute } = useDatabase(createDatabase);
    let store: Store;
    let ledger: LedgerStore;

    beforeEach(async () => {
      store = await open();
      ({ ledger } = store);
    });

    const has = async (account = ACCOUNT): Promise<[balance: bigint, reserved: bigint]> => {
      const { balance, reserved } = await ledger.balance(account);
      return [balance, reserved];
    };
    const faults = async (): Promise<readonly string[]> => (await ledger.checkBalanced()).faults;

    describe('postings', () => {
      it('are posted once, and read as a statement by others', async () => {
        expect(await credit(ledger, ACCOUNT, 100n, 'p1')).toBe('posted');
        expect(await credit(ledger, ACCOUNT, 100n, 'p1')).toBe('posted_before');
        expect(await credit(ledger, ACCOUNT, 20n, 'p2')).toBe('posted');
        const other = (await open()).ledger;
        expect([await other.postedAt('p1'), await other.postedAt('p0')]).toEqual([NOW, null]);
        expect(await other.balance(ACCOUNT)).toEqual({ balance: 120n, reserved: 0n, dust: 0n, lines: 2 });
        expect(await other.balance('external')).toMatchObject({ balance: -120n, lines: 2 });
        const line = { memo: 'paid in', at: NOW };
        expect(await other.statement(ACCOUNT, { limit: 9 })).toEqual([
          { line: 1, posting: 'p1', ...line, amount: 100n, balance: 100n },
          { line: 2, posting: 'p2', ...line, amount: 20n, balance: 120n },
        ]);
        expect(await other.statement(ACCOUNT, { after: 1, limit: 9 })).toMatchObject([{ line: 2 }]);
        expect(await other.statement(ACCOUNT, { limit: 1 })).toMatchObject([{ line: 1 }]);
        expect(await other.checkBalanced()).toEqual({ postings: 2, sum: 0n, faults: [] });
      });

      it('that do not sum to 0 are refused', async () => {
        const entries = [{ account: ACCOUNT, amount: 1n }];
        await expect(ledger.post({ id: 'p', memo: '', at: NOW, entries })).rejects.toThrow(RangeError);
        await expect(ledger.settle(settlement('s', 0n, { entries }))).rejects.toThrow(RangeError);
        expect(await ledger.checkBalanced()).toEqual({ postings: 0, sum: 0n, faults: [] });
      });

      it('take from a caller only what is there and not reserved', async () => {
        await credit(ledger, ACCOUNT, 100n);
        await reserve(ledger, 'r', 70n);
        expect(await credit(ledger, ACCOUNT, -31n)).toEqual({ kind: 'insufficient', available: 30n });
        expect(await credit(ledger, ACCOUNT, -30n)).toBe('posted');
        expect(await has()).toEqual([70n, 70n]);
      });

      it('hold amounts past 2^53 to the last digit, and refuse what passes 2^63', async () => {
        const large = 2n ** 62n + 1n;
        await credit(ledger, ACCOUNT, large);
        expect(await has()).toEqual([large, 0n]);
        await expect(credit(ledger, ACCOUNT, large, 'again')).rejects.toThrow(/range|too large/i);
        expect(await ledger.checkBalanced()).toEqual({ postings: 1, sum: 0n, faults: [] });
      });
    });

    describe('reservations', () => {
      it('hold back what others then cannot', async () => {
        await credit(ledger, ACCOUNT, 100n);
        expect(await reserve(ledger, 'a', 60n)).toEqual(reserved(40n));
        expect(await reserve(ledger, 'b', 41n)).toEqual({ kind: 'insufficient', available: 40n });
        expect(await reserve((await open()).ledger, 'c', 40n)).toEqual(reserved(0n));
        expect(await has()).toEqual([100n, 100n]);
      });

      it('are the same for the same id, and end once', async () => {
        await credit(ledger, ACCOUNT, 100n);
        await Promise.all([reserve(ledger, 'a', 60n), reserve(ledger, 'a', 60n)]);
        expect(await reserve(ledger, 'a', 60n)).toEqual(reserved(null));
        expect(await has()).toEqual([100n, 60n]);
        await Promise.all([ledger.release('a'), ledger.release('a'), ledger.release('never')]);
        expect(await has()).toEqual([100n, 0n]);
      });

      it('end in the order of the calls, also of calls at once', async () => {
        await credit(ledger, ACCOUNT, 100n);
        const [, , second] = await Promise.all([
          reserve(ledger, 'a', 100n),
          ledger.release('a'),
          reserve(ledger, 'b', 100n),
          ledger.release('b'),
        ]);
        expect(second).toEqual(reserved(0n));
        expect(await has()).toEqual([100n, 0n]);
      });

      it('leave no trace of a caller that has nothing, who may reserve nothing', async () => {
        expect(await reserve(ledger, 'a', 1n)).toEqual({ kind: 'insufficient', available: 0n });
        expect(await reserve(ledger, 'b', 0n)).toEqual(reserved(0n));
        await expect(execute(`insert into accounts (account) values ('${ACCOUNT}')`)).resolves.not.toThrow();
      });

      it('are given back when they expire', async () => {
        await credit(ledger, ACCOUNT, 100n);
        await reserve(ledger, 'a', 60n);
        await ledger.reserve({ id: 'b', account: ACCOUNT, amount: 30n, expiresAt: NOW + 601 });
        expect(await ledger.reserved()).toBe(90n);
        expect(await ledger.expireReservations(NOW + 599)).toBe(0);
        expect(await ledger.expireReservations(NOW + 600)).toBe(1);
        expect(await ledger.reserved()).toBe(30n);
        expect(await has()).toEqual([100n, 30n]);
        expect(await ledger.settle(settlement('a', 10n))).toBe('unreserved');
        expect(await has()).toEqual([100n, 30n]);
      });

      it('need no balance of an account that may owe', async () => {
        expect(await reserve(ledger, 'a', 60n, 'development')).toEqual(reserved(-60n));
        expect(await ledger.settle(settlement('a', 50n, { account: 'development' }))).toBe('settled');
        expect(await has('development')).toEqual([-50n, 0n]);
      });

      it('never promise more than there is when many come at once, over two connections', async () => {
        await credit(ledger, ACCOUNT, 1_000n);
        const other = (await open()).ledger;
        const outcomes = await Promise.all(times(200, (i) => reserve(i % 2 ? ledger : other, `r${i}`, 30n)));
        expect(outcomes.filter(({ kind }) => kind === 'reserved')).toHaveLength(33);
        expect(await has()).toEqual([1_000n, 990n]);
        expect(await faults()).toEqual([]);
      });
    });

    describe('settlements', () => {
      beforeEach(async () => {
        await credit(ledger, ACCOUNT, 100n);
        await reserve(ledger, 'a', 60n);
      });

      it('end the reservation, and store entries, receipt, usage and job together', async () => {
        await ledger.registerMember({ did: 'did:web:m', handle: null, at: NOW });
        const entries = [
          { account: ACCOUNT, amount: -50n },
          { account: 'caller:did:web:m', amount: 5n },
          { account: 'provider:openai', amount: 45n },
        ];
        expect(await ledger.settle(settlement('a', 50n, { entries, jobOf: 'did:web:m' }))).toBe('settled');
        expect(await has()).toEqual([50n, 0n]);
        expect(await has('caller:did:web:m')).toEqual([5n, 0n]);
        expect(await has('provider:openai')).toEqual([45n, 0n]);
        expect(await store.getReceipt('a')).toMatchObject({ kind: 'found', body: '{"id":"a"}' });
        expect(await ledger.member('did:web:m')).toMatchObject({ jobs: 1 });
        expect(await ledger.usage('did:web:a')).toEqual([
          {
            day: '2027-01-15',
            model: 'openai/small',
            calls: 1,
            promptTokens: 10,
            completionTokens: 5,
            cachedTokens: 2,
            charged: 50n,
            savedTokens: 0,
            saving: 0n,
            share: 0n,
          },
        ]);
        expect(await ledger.statement(ACCOUNT, { after: 1, limit: 5 })).toEqual([
          { line: 2, posting: 'a', memo: 'openai/small', at: NOW, amount: -50n, balance: 50n },
        ]);
        expect(await faults()).toEqual([]);
      });

      it('happen once, however often they come', async () => {
        const outcomes = await Promise.all(times(5, () => ledger.settle(settlement('a', 50n))));
        expect(outcomes).toEqual(['settled', ...times(4, () => 'settled_before')]);
        await close(store);
        ({ ledger } = await open());
        expect(await ledger.settle(settlement('a', 50n))).toBe('settled_before');
        expect(await has()).toEqual([50n, 0n]);
        expect(await ledger.usage('did:web:a')).toMatchObject([{ calls: 1 }]);
      });

      it('charge an idempotency key once, whoever comes, and the other’s reservation ends', async () => {
        await reserve(ledger, 'b', 10n);
        await reserve(ledger, 'c', 10n);
        const other = (await open()).ledger;
        const idempotency = { scope: 's', requestHash: 'h', expiresAt: NOW + 500 };
        const settled = await Promise.all([
          ledger.settle(settlement('a', 10n, { idempotency })),
          other.settle(settlement('b', 10n, { idempotency })),
          ledger.settle(settlement('c', 10n, { idempotency })),
        ]);
        const winner = ['a', 'b', 'c'][settled.indexOf('settled')];
        const replayed = { kind: 'replayed', response: `{"id":"${winner}"}` };
        expect(settled.filter((one) => one !== 'settled')).toEqual([replayed, replayed]);
        expect(await has()).toEqual([90n, 0n]);
        await reserve(ledger, 'd', 10n);
        const reused = { ...idempotency, requestHash: 'other' };
        expect(await ledger.settle(settlement('d', 10n, { idempotency: reused }))).toEqual({
          kind: 'reused',
        });
        expect(await has()).toEqual([90n, 0n]);
        expect(await ledger.usage('did:web:a')).toMatchObject([{ calls: 1 }]);
        expect(await faults()).toEqual([]);
      });

      it('of more than was reserved, of another account or without a reservation do not happen', async () => {
        expect(await ledger.settle(settlement('x', 1n, { reservationId: null }))).toBe('unreserved');
        const other = settlement('x', 1n, { account: 'caller:key_b', reservationId: 'a' });
        expect(await ledger.settle(other)).toBe('unreserved');
        await reserve(ledger, 'a', 60n);
        expect(await ledger.settle(settlement('a', 61n))).toBe('unreserved');
        expect(await store.getReceipt('a')).toEqual({ kind: 'unknown' });
        expect(await has()).toEqual([100n, 0n]);
        expect(await has('caller:key_b')).toEqual([0n, 0n]);
      });

      it('do not happen where another receipt has the id', async () => {
        await store.putReceipt({ ...settlement('a', 0n).receipt, body: '"other"' });
        expect(await ledger.settle(settlement('a', 1n))).toBe('id_taken');
        expect(await has()).toEqual([100n, 0n]);
      });

      it('of nothing leave receipt and usage, and no line', async () => {
        expect(await ledger.settle(settlement('b', 0n, { reservationId: null }))).toBe('settled');
        expect(await store.getReceipt('b')).toMatchObject({ kind: 'found' });
        expect(await ledger.balance('provider:openai')).toMatchObject({ lines: 0 });
        expect(await faults()).toEqual([]);
      });

      it('carry dust from one reservation to the next, and back where it is not used', async () => {
        expect(await ledger.settle(settlement('a', 1n, { dust: 700_000n }))).toBe('settled');
        expect(await reserve(ledger, 'b', 1n)).toEqual(reserved(98n, 700_000n));
        expect(await reserve(ledger, 'c', 1n)).toEqual(reserved(97n));
        await ledger.release('b');
        expect(await ledger.settle(settlement('c', 1n, { dust: 600_000n }))).toBe('settled');
        expect(await reserve(ledger, 'd', 1n)).toEqual(reserved(97n, 1_300_000n));
        expect(await ledger.expireReservations(NOW + 600)).toBe(1);
        expect(await ledger.balance(ACCOUNT)).toMatchObject({ dust: 1_300_000n });
      });

      it('are counted by day and model', async () => {
        const at = (seconds: number, model: string) => ({
          at: seconds,
          reservationId: null,
          usage: { ...settlement('', 0n).usage, model, charged: 2n ** 54n + 1n },
        });
        const midnight = NOW - (NOW % 86_400);
        await Promise.all([
          ledger.settle(settlement('1', 0n, at(midnight - 1, 'm'))),
          ledger.settle(settlement('2', 0n, at(midnight, 'm'))),
          ledger.settle(settlement('3', 0n, at(midnight, 'k'))),
          ledger.settle(settlement('4', 0n, at(midnight + 86_399, 'm'))),
        ]);
        await ledger.settle(settlement('5', 0n, at(midnight, 'm')));
        const rows = await ledger.usage('did:web:a');
        expect(rows.map(({ day, model, calls }) => [day, model, calls])).toEqual([
          ['2027-01-14', 'm', 1],
          ['2027-01-15', 'k', 1],
          ['2027-01-15', 'm', 3],
        ]);
        expect(rows[2]).toMatchObject({ promptTokens: 30, charged: 3n * (2n ** 54n + 1n) });
        expect(await ledger.usage('did:web:a', { from: '2027-01-15' })).toHaveLength(2);
        expect(await ledger.usage('did:web:a', { to: '2027-01-14' })).toHaveLength(1);
        expect(await ledger.usage('did:web:other')).toEqual([]);
      });

      it('are refused alone where the database refuses their data', async () => {
        await reserve(ledger, 'b', 10n);
        const bad = settlement('a', 1n, { usage: { ...settlement('a', 1n).usage, subject: null as never } });
        const outcomes = await Promise.allSettled([ledger.settle(bad), ledger.settle(settlement('b', 1n))]);
        expect(outcomes).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 'settled' }]);
        expect(await has()).toEqual([99n, 60n]);
        expect(await store.getReceipt('a')).toEqual({ kind: 'unknown' });
      });
    });

    describe('the check', () => {
      it.each([
        ['update ledger_entries set amount = amount + 1 where line = 2', 'posting a sums to 1'],
        ["update accounts set balance = 5 where account = 'external'", 'account external has balance 5'],
        ["update accounts set reserved = 7 where account = 'caller:key_a'", 'caller:key_a has 7 reserved'],
        ["update accounts set lines = 1 where account = 'caller:key_a'", 'has 2 lines to 2, not 1'],
        ["update ledger_entries set balance = 9 where account = 'external'", 'says balance 9'],
        ["delete from ledger_postings where id = 'a'", 'its posting a is missing'],
        ["delete from reservations where id = 'r'", 'its reservations sum to 0'],
        ["delete from accounts where account = 'provider:openai'", 'has lines and no balance'],
      ])('finds %s', async (sql, fault) => {
        await credit(ledger, ACCOUNT, 100n);
        await reserve(ledger, 'a', 60n);
        await reserve(ledger, 'r', 3n);
        await ledger.settle(settlement('a', 50n));
        expect(await faults()).toEqual([]);
        await execute(sql);
        expect((await faults()).join('\n')).toContain(fault);
      });

      it('is not alone: the database refuses a caller’s balance below what is reserved', async () => {
        await credit(ledger, ACCOUNT, 100n);
        await reserve(ledger, 'a', 60n);
        await expect(
          execute(`update accounts set balance = 59 where account = '${ACCOUNT}'`),
        ).rejects.toThrow(/constraint/i);
      });
    });

    describe('members', () => {
      const join = (did: string, handle: string | null, at = NOW) =>
        ledger.registerMember({ did, handle, at });

      it('are registered once, each handle to one', async () => {
        const member = { did: 'did:web:m', handle: 'm', registeredAt: NOW, jobs: 0 };
        expect(await join('did:web:m', 'm')).toEqual(member);
        expect(await join('did:web:m', 'n', NOW + 1)).toEqual(member);
        expect(await join('did:web:n', 'm')).toBe('handle_taken');
        expect(await join('did:web:n', null)).toMatchObject({ handle: null });
        expect(await join('did:web:o', null)).toMatchObject({ handle: null });
        expect(await ledger.member('did:web:m')).toEqual(member);
        expect(await ledger.member('did:web:x')).toBeNull();
      });

      it('are registered once by many at once, over two connections', async () => {
        const other = (await open()).ledger;
        const outcomes = await Promise.all(
          times(30, (i) =>
            (i % 2 ? ledger : other).registerMember({ did: `did:web:${i % 10}`, handle: 'same', at: i }),
          ),
        );
        const members = outcomes.flatMap((outcome) => (outcome === 'handle_taken' ? [] : outcome));
        expect(new Set(members.map(({ did }) => did)).size).toBe(1);
        expect(members).toHaveLength(3);
      });

      it('count the jobs after their registration, exactly, over two connections', async () => {
        const other = (await open()).ledger;
        const free = (i: number) =>
          settlement(`s${i}`, 0n, { reservationId: null, jobOf: i % 4 === 3 ? null : `did:web:${i % 4}` });
        expect(await ledger.settle(free(0))).toBe('settled');
        await join('did:web:0', null);
        await join('did:web:1', null);
        await Promise.all(times(400, (i) => (i % 3 ? ledger : other).settle(free(i + 1))));
        expect(await ledger.member('did:web:0')).toMatchObject({ jobs: 100 });
        expect(await ledger.member('did:web:1')).toMatchObject({ jobs: 100 });
        expect(await ledger.member('did:web:2')).toBeNull();
      });

      it('are ranked by jobs, the older first among equals', async () => {
        for (const [did, at] of [
          ['did:web:c', 3],
          ['did:web:b', 2],
          ['did:web:a', 2],
          ['did:web:d', 9],
        ] as const) {
          await join(did, null, at);
        }
        await ledger.settle(settlement('s', 0n, { reservationId: null, jobOf: 'did:web:d' }));
        const ranked = (await ledger.leaderboard(9)).map(({ did }) => did);
        expect(ranked).toEqual(['did:web:d', 'did:web:a', 'did:web:b', 'did:web:c']);
        expect(await ledger.leaderboard(2)).toHaveLength(2);
      });
    });

    it('drains what waits when it closes, and then refuses', async () => {
      await credit(ledger, ACCOUNT, 100n);
      const waiting = times(50, (i) => reserve(ledger, `r${i}`, 1n));
      await close(store);
      expect((await Promise.all(waiting)).every(({ kind }) => kind === 'reserved')).toBe(true);
      await expect(reserve(ledger, 'late', 1n)).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
}
