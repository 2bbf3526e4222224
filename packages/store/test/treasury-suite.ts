import { UNCHANGED_KEY } from '@tallystick/callers';
import { beforeEach, describe, expect, it } from 'vitest';
import type {
  OrderRow,
  PayoutAttempt,
  PayoutRow,
  TransferEnding,
  TransferRow,
} from '../../payments/src/treasury-store.ts';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

const NETWORK = 'eip155:1';
const WATCHED = { network: NETWORK, treasury: '0xt' };
const NOW = 1_800_000_000;
/** Past what a double holds. */
const LARGE = 2n ** 53n + 1n;

function transfer(id: string, change: Partial<TransferRow> = {}): TransferRow {
  return {
    id,
    network: NETWORK,
    txHash: `0x${id}`,
    ordinal: 0,
    height: 5,
    blockHash: '0xb',
    blockTime: NOW,
    sender: '0xs',
    amount: LARGE,
    memo: null,
    seenAt: NOW,
    ...change,
  };
}

function order(id: string, change: Partial<OrderRow> = {}): OrderRow {
  return {
    id,
    kind: 'key',
    state: 'open',
    tier: 'pro',
    months: 1,
    contact: 'a@example.com',
    did: null,
    account: null,
    amount: 29_000_001n,
    payment: null,
    createdAt: NOW,
    expiresAt: NOW + 60,
    apiKey: null,
    paidUntil: null,
    seed: null,
    sealed: null,
    attempts: 0,
    dueAt: NOW + 100,
    problem: null,
    deliveredAt: null,
    ...change,
  };
}

function payout(id: string, change: Partial<PayoutRow> = {}): PayoutRow {
  return {
    id,
    kind: 'withdrawal',
    state: 'waiting',
    network: NETWORK,
    account: 'caller:key_a',
    address: '0xa',
    amount: 5n,
    reason: null,
    transfer: null,
    createdAt: NOW,
    sender: null,
    nonce: null,
    txHash: null,
    height: null,
    note: null,
    endedAt: null,
    ...change,
  };
}

function attempt(payout: string, nonce: number, txHash = `0x${payout}${nonce}`): PayoutAttempt {
  const fees = { maxFeePerGas: '1', maxPriorityFeePerGas: '1' };
  return { payout, sender: '0xs', nonce, txHash, raw: '0xraw', ...fees, createdAt: NOW };
}

function posting(id: string, from: string, to: string, amount = 5_000n) {
  const entries = [
    { account: from, amount: -amount },
    { account: to, amount },
  ];
  return { id, memo: '', at: NOW, entries };
}

const apiKey = (id: string) => ({
  id,
  hash: `hash of ${id}`,
  tier: 'pro',
  label: null,
  createdAt: NOW,
  ...UNCHANGED_KEY,
  expiresAt: NOW + 9,
});

/** The guarantees of {@link TreasuryStore}, to be kept by every adapter. */
export function treasurySuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the treasury`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    let other: Store;

    beforeEach(async () => {
      [store, other] = [await open(), await open()];
    });

    const at = (height: number) => ({ height, blockHash: `0x${height}` });
    const seen = (...rows: TransferRow[]) =>
      store.treasury.record(WATCHED, rows, { from: null, to: at(5) }, null);
    const balance = async (account: string): Promise<bigint> => (await store.ledger.balance(account)).balance;
    const credit = (): Promise<unknown> => store.ledger.post(posting('credit', 'external', 'caller:key_a'));

    describe('transfers', () => {
      it('are recorded with the cursor, once, by whoever moves it first', async () => {
        const rows = [transfer('a'), transfer('b', { height: 4 })];
        const opening = posting('opening', `chain:${NETWORK}`, 'owner');
        const first = { from: null, to: at(5) };
        const outcomes = await Promise.all([
          store.treasury.record(WATCHED, rows, first, opening),
          other.treasury.record(WATCHED, rows, first, opening),
        ]);
        expect(outcomes.sort()).toEqual(['overtaken', 'recorded']);
        const cursor = { treasury: '0xt', firstHeight: 5 };
        expect(await store.treasury.cursors(NETWORK)).toEqual([{ ...at(5), ...cursor }]);
        expect(await balance('owner')).toBe(5_000n);
        expect(await other.treasury.undecided(NETWORK, 9)).toMatchObject([rows[1], rows[0]]);
        const again = [transfer('a', { height: 7 }), transfer('c', { height: 7 })];
        expect(await store.treasury.record(WATCHED, again, { from: at(4), to: at(7) }, null)).toBe(
          'overtaken',
        );
        expect(await store.treasury.record(WATCHED, again, { from: at(5), to: at(7) }, null)).toBe(
          'recorded',
        );
        const second = { ...WATCHED, treasury: '0xu' };
        await store.treasury.record(second, [], { from: null, to: at(6) }, null);
        expect(await store.treasury.cursors(NETWORK)).toEqual([
          { ...at(7), ...cursor },
          { ...at(6), treasury: '0xu', firstHeight: 6 },
        ]);
        const all = await store.treasury.undecided(NETWORK, 9);
        expect(all.map(({ id, height, amount }) => [id, height, amount])).toEqual([
          ['b', 4, LARGE],
          ['a', 5, LARGE],
          ['c', 7, LARGE],
        ]);
        expect(await store.treasury.cursors('eip155:2')).toEqual([]);
      });

      it('have a mark of each network, which the next one replaces', async () => {
        expect(await store.treasury.mark(NETWORK)).toBeNull();
        await store.treasury.putMark(NETWORK, { ...at(7), state: 'seven' });
        await store.treasury.putMark('eip155:2', { ...at(8), state: 'eight' });
        await other.treasury.putMark(NETWORK, { ...at(6), state: 'six' });
        expect(await store.treasury.mark(NETWORK)).toEqual({ ...at(6), state: 'six' });
        expect(await other.treasury.mark('eip155:2')).toEqual({ ...at(8), state: 'eight' });
      });

      it('end once, with all that belongs to it', async () => {
        await seen(transfer('a'));
        const ending = (by: string): TransferEnding => ({
          transfer: 'a',
          outcome: 'key',
          reference: `order ${by}`,
          at: NOW,
          posting: posting(`transfer:a`, `chain:${NETWORK}`, 'revenue'),
          order: order(`order ${by}`, { state: 'delivering', amount: null, payment: 'a' }),
          apiKey: apiKey(`key_${by}`),
        });
        const outcomes = await Promise.all([
          store.treasury.end(ending('1')),
          other.treasury.end(ending('2')),
          store.treasury.end(ending('3')),
        ]);
        expect(outcomes.toSorted()).toEqual(['ended', 'ended_before', 'ended_before']);
        expect(await store.treasury.newestOrders(9)).toHaveLength(1);
        expect(await collect(store.apiKeys.list())).toHaveLength(1);
        expect(await balance('revenue')).toBe(5_000n);
        expect(await store.treasury.undecided(NETWORK, 9)).toEqual([]);
      });

      it('do not end on ground that has changed: nothing is left of it', async () => {
        await seen(transfer('a'), transfer('b'));
        await store.apiKeys.put(apiKey('key_r'));
        await store.treasury.openOrder(order('o'));
        const claims = { ...order('o'), state: 'done' as const, payment: 'a', dueAt: null };
        const end = (of: string, change: Partial<TransferEnding>): TransferEnding => ({
          transfer: of,
          outcome: 'key',
          reference: 'o',
          at: NOW,
          posting: posting(`transfer:${of}`, `chain:${NETWORK}`, 'revenue'),
          ...change,
        });
        const renews = { id: 'key_r', from: NOW + 9, to: NOW + 99 };
        expect(await store.treasury.end(end('a', { claims, renews }))).toBe('ended');
        expect((await store.apiKeys.get('key_r'))?.expiresAt).toBe(NOW + 99);
        expect(await store.treasury.end(end('b', { claims: { ...claims, payment: 'b' } }))).toBe('conflict');
        expect(await store.treasury.end(end('b', { renews }))).toBe('conflict');
        expect(await store.treasury.undecided(NETWORK, 9)).toMatchObject([{ id: 'b' }]);
        expect(await balance('revenue')).toBe(5_000n);
        expect(await store.treasury.order('o')).toMatchObject({ state: 'done', payment: 'a', attempts: 0 });
      });
    });

    describe('orders', () => {
      it('that are open ask for an amount each, until they are not', async () => {
        const outcomes = await Promise.all(
          times(6, (i) => (i % 2 ? store : other).treasury.openOrder(order(`o${i}`))),
        );
        expect(outcomes.filter((one) => one === 'opened')).toHaveLength(1);
        const [opened] = await store.treasury.newestOrders(9);
        expect(await other.treasury.openOrderOf(29_000_001n)).toEqual(opened);
        expect(await other.treasury.openOrderOf(29_000_002n)).toBeNull();
        if (opened === undefined) throw new Error('No order is open.');
        await store.treasury.moveOrder({ ...opened, state: 'expired', dueAt: null }, opened);
        expect(await store.treasury.openOrderOf(29_000_001n)).toBeNull();
        expect(await store.treasury.openOrder(order('again'))).toBe('opened');
      });

      it('are taken by one at a time when they are due, and again once that has ended', async () => {
        await store.treasury.openOrder(order('o'));
        const take = (of: Store, now: number) => of.treasury.takeDue(now, now + 50);
        expect(await take(store, NOW + 99)).toBeNull();
        const taken = await Promise.all([
          take(store, NOW + 100),
          take(other, NOW + 100),
          take(store, NOW + 100),
        ]);
        expect(taken.filter((one) => one !== null)).toMatchObject([{ id: 'o', attempts: 1 }]);
        expect(await take(other, NOW + 149)).toBeNull();
        const second = await take(other, NOW + 150);
        expect(second).toMatchObject({ attempts: 2 });
        const done = { ...order('o'), state: 'done' as const, dueAt: null };
        expect(await store.treasury.moveOrder(done, { state: 'open', attempts: 1 })).toBe('overtaken');
        expect(await store.treasury.moveOrder(done, { state: 'open', attempts: 2 })).toBe('moved');
        expect(await take(store, NOW + 1_000)).toBeNull();
      });

      it('that are paid are not moved by whoever took them before, though another has taken them since', async () => {
        await store.treasury.openOrder(order('o'));
        const unpaid = await store.treasury.takeDue(NOW + 100, NOW + 150);
        if (unpaid === null) throw new Error('No order is due.');
        await seen(transfer('a'));
        await other.treasury.end({
          transfer: 'a',
          outcome: 'key',
          reference: 'o',
          at: NOW,
          posting: null,
          claims: { ...order('o'), state: 'delivering', payment: 'a', seed: 's', dueAt: NOW + 100 },
        });
        const paid = await other.treasury.takeDue(NOW + 100, NOW + 150);
        expect(paid).toMatchObject({ state: 'delivering', attempts: unpaid.attempts });
        expect(await store.treasury.moveOrder({ ...unpaid, state: 'expired', dueAt: null }, unpaid)).toBe(
          'overtaken',
        );
        expect(await store.treasury.order('o')).toEqual(paid);
      });

      it('are listed: those that wait for something, and the newest of all', async () => {
        const states = ['open', 'delivering', 'undeliverable', 'expired', 'done'] as const;
        const ids = times(250, (i) => `o${String(i).padStart(3, '0')}`);
        for (const [i, id] of ids.entries()) {
          const state = states[i % states.length] ?? 'open';
          const change = { state, amount: BigInt(i), createdAt: NOW + Math.floor(i / 100) };
          expect(await store.treasury.openOrder(order(id, change))).toBe('opened');
        }
        const { treasury } = other;
        const waiting = await collect(treasury.listOpenOrders());
        expect(waiting.map(({ id }) => id)).toEqual(ids.filter((_, i) => i % states.length < 3));
        const newest = await treasury.newestOrders(60);
        expect(newest.map(({ id }) => id)).toEqual(ids.slice(-60).toReversed());
        const older = await treasury.newestOrders(500, newest.at(-1));
        expect(older.map(({ id }) => id)).toEqual(ids.slice(0, -60).toReversed());
      });

      it('are issued once for a payment', async () => {
        const paid = (id: string) => order(id, { state: 'done', amount: null, payment: 'x402:p' });
        const [one, two] = await Promise.all([
          store.treasury.issueOrder(paid('1'), apiKey('key_1')),
          other.treasury.issueOrder(paid('2'), apiKey('key_2')),
        ]);
        expect(one).toEqual(two);
        expect(await collect(store.apiKeys.list())).toHaveLength(1);
      });
    });

    describe('payouts', () => {
      const asked = (of: Store, id: string) =>
        of.treasury.requestPayout(payout(id), posting(`requested:${id}`, 'caller:key_a', 'withdrawals'));

      it('take what is there from a caller, once', async () => {
        await credit();
        const outcomes = await Promise.all([asked(store, 'a'), asked(other, 'a'), asked(store, 'b')]);
        expect(outcomes.filter((one) => one === 'requested')).toHaveLength(1);
        expect(await balance('withdrawals')).toBe(5_000n);
        expect(await asked(store, 'c')).toEqual({ kind: 'insufficient', available: 0n });
        expect(await store.treasury.newestPayouts('withdrawal', 100)).toHaveLength(1);
      });

      it('of an account are listed apart, newest first, by their time and in pages', async () => {
        await credit();
        await store.ledger.post(posting('more', 'external', 'caller:key_b'));
        for (const [id, account, createdAt] of [
          ['late', 'caller:key_a', NOW + 1],
          ['other', 'caller:key_b', NOW],
          ['early', 'caller:key_a', NOW],
        ] as const) {
          const held = posting(
            `requested:${id}`,
            account,
            'withdrawals',
            account === 'caller:key_a' ? 2_500n : 5_000n,
          );
          const asked = store.treasury.requestPayout(payout(id, { account, createdAt }), held);
          expect(await asked).toBe('requested');
        }
        const idsOf = async (
          account: string,
          page: Partial<Parameters<typeof store.treasury.newestWithdrawals>[1]> = {},
        ) => {
          const rows = await store.treasury.newestWithdrawals(account, { from: 0, limit: 9, ...page });
          return rows.map(({ id }) => id);
        };
        expect(await idsOf('caller:key_a')).toEqual(['late', 'early']);
        expect(await idsOf('caller:key_b')).toEqual(['other']);
        expect(await idsOf('caller:key_c')).toEqual([]);
        expect(await idsOf('caller:key_a', { limit: 1 })).toEqual(['late']);
        expect(await idsOf('caller:key_a', { before: { createdAt: NOW + 1, id: 'late' } })).toEqual([
          'early',
        ]);
        expect(await idsOf('caller:key_a', { before: { createdAt: NOW + 1, id: '' } })).toEqual(['early']);
        expect(await idsOf('caller:key_a', { from: NOW + 1 })).toEqual(['late']);
      });

      it('are listed by their kind: those that are open, and the newest of all', async () => {
        await store.ledger.post(posting('credit', 'external', 'caller:key_a', 2_000_000n));
        const put = async (id: string, change: Partial<PayoutRow>) => {
          const held = posting(`requested:${id}`, 'caller:key_a', 'withdrawals');
          expect(await store.treasury.requestPayout(payout(id, change), held)).toBe('requested');
        };
        // More than a page, many of them of one second.
        const ids = times(250, (i) => `w${String(i).padStart(3, '0')}`);
        for (const [i, id] of ids.entries()) await put(id, { createdAt: NOW + Math.floor(i / 100) });
        await put('r0', { kind: 'refund' });
        const decline = { from: 'waiting', to: 'declined', at: NOW } as const;
        const ended = new Set(['w000', 'w201', 'w249']);
        for (const id of ended) {
          const back = posting(`declined:${id}`, 'withdrawals', 'caller:key_a');
          const end = { id, txHash: null, height: null, note: null };
          expect(await store.treasury.endPayout(end, decline, back)).toBe('ended');
        }
        await store.treasury.startPayout(attempt('w002', 1));
        const { treasury } = other;
        const open = await collect(treasury.listOpenPayouts('withdrawal'));
        expect(open.map(({ id }) => id)).toEqual(ids.filter((id) => !ended.has(id)));
        expect(await collect(treasury.listOpenPayouts('refund'))).toMatchObject([{ id: 'r0' }]);
        const newest = await treasury.newestPayouts('withdrawal', 60);
        expect(newest.map(({ id }) => id)).toEqual(ids.slice(-60).toReversed());
        const older = await treasury.newestPayouts('withdrawal', 500, newest.at(-1));
        expect(older.map(({ id }) => id)).toEqual(ids.slice(0, -60).toReversed());
        expect(await treasury.newestPayouts('refund', 9)).toMatchObject([{ id: 'r0', kind: 'refund' }]);
      });

      it('are signed once, with a nonce each', async () => {
        await credit();
        await store.ledger.post(posting('more', 'external', 'caller:key_a'));
        await Promise.all([asked(store, 'a'), asked(store, 'b')]);
        const started = await Promise.all([
          store.treasury.startPayout(attempt('a', 7)),
          other.treasury.startPayout(attempt('b', 7)),
          other.treasury.startPayout(attempt('a', 8)),
        ]);
        expect(started.filter((one) => one === 'started').length).toBeGreaterThan(0);
        const rows = await store.treasury.newestPayouts('withdrawal', 100);
        const nonces = rows.flatMap(({ nonce }) => nonce ?? []);
        expect(new Set(nonces).size).toBe(nonces.length);
        for (const { id, nonce } of rows) {
          const attempts = await store.treasury.payoutAttempts(id);
          expect(attempts.map((one) => one.nonce)).toEqual(nonce === null ? [] : [nonce]);
        }
        expect(await store.treasury.newestNonce(NETWORK, '0xs')).toBe(Math.max(...nonces));
        expect(await store.treasury.newestNonce(NETWORK, '0xother')).toBeNull();
        expect(await store.treasury.newestNonce('eip155:2', '0xs')).toBeNull();
      });

      it('end once, and are posted then', async () => {
        await credit();
        await asked(store, 'a');
        await store.treasury.startPayout(attempt('a', 1));
        expect(await store.treasury.addPayoutAttempt(attempt('a', 2, '0xx'))).toBe('overtaken');
        expect(await store.treasury.addPayoutAttempt(attempt('a', 1, '0xy'))).toBe('added');
        const end = (of: Store) =>
          of.treasury.endPayout(
            { id: 'a', txHash: '0xy', height: 9, note: null },
            { from: 'paying', to: 'paid', at: NOW },
            posting('payout:a', 'withdrawals', `chain:${NETWORK}`),
          );
        const ended = await Promise.all([end(store), end(other), end(store)]);
        expect(ended.toSorted()).toEqual(['ended', 'overtaken', 'overtaken']);
        expect(await balance('withdrawals')).toBe(0n);
        expect(await store.treasury.payout('a')).toMatchObject({
          state: 'paid',
          txHash: '0xy',
          height: 9,
          endedAt: NOW,
        });
        expect(await store.treasury.reopenPayout('a', 'x')).toBe('overtaken');
        expect(await store.treasury.payoutsUnderWay(NETWORK)).toEqual([]);
      });

      it('are opened again, and take another nonce', async () => {
        await credit();
        await asked(store, 'a');
        await store.treasury.startPayout(attempt('a', 1));
        expect(await store.treasury.payoutsUnderWay(NETWORK)).toMatchObject([{ id: 'a', nonce: 1 }]);
        expect(await other.treasury.reopenPayout('a', 'lost')).toBe('reopened');
        expect(await store.treasury.payout('a')).toMatchObject({
          state: 'waiting',
          nonce: null,
          note: 'lost',
        });
        expect(await store.treasury.startPayout(attempt('a', 2))).toBe('started');
        expect((await store.treasury.payoutAttempts('a')).map(({ nonce }) => nonce)).toEqual([1, 2]);
      });
    });
  });
}
