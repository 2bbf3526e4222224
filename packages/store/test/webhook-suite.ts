import type { WebhookRow } from '@tallystick/callers';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const NOW = 1_800_000_000_000;
const LATEST = { at: Number.MAX_SAFE_INTEGER, id: '' };

const webhook = (id: string, change: Partial<WebhookRow> = {}): WebhookRow => ({
  id,
  owner: 'caller:a',
  url: 'https://example.com/',
  events: 'balance.low key.revoked',
  secret: 'sealed',
  previousSecret: null,
  previousUntil: null,
  createdAt: NOW,
  disabledAt: null,
  disabledBecause: null,
  failingSince: null,
  ...change,
});

const message = (id: string, type = 'balance.low', at = NOW) => ({ id, type, body: `{"id":"${id}"}`, at });
const DISABLED = { disabledAt: NOW, disabledBecause: 'owner' } as const;

/** The guarantees of {@link WebhookStore}, to be kept by every adapter. */
export function webhookSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps webhooks`, () => {
    const { open, close } = useDatabase(createDatabase);
    let store: Store;
    let other: Store;
    beforeEach(async () => {
      store = await open();
      other = await open();
    });

    const messagesTo = async (id: string): Promise<string[]> =>
      (await other.webhooks.deliveries(id, { from: 0, before: LATEST, limit: 100 })).map(
        (delivery) => `${delivery.message} ${delivery.state}`,
      );

    it('for their owners alone, and no more than each may have', async () => {
      const outcomes = await Promise.all(
        times(8, (at) => (at % 2 ? store : other).webhooks.put(webhook(`w${at}`), 3)),
      );
      expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(3);
      expect(await store.webhooks.put(webhook('b', { owner: 'caller:b' }), 3)).toBe('stored');
      expect(await other.webhooks.list('caller:b')).toEqual([webhook('b', { owner: 'caller:b' })]);
      expect(await store.webhooks.get('caller:a', 'b')).toBeNull();
      expect(await store.webhooks.change('caller:a', 'b', () => DISABLED)).toBeNull();
      expect(await store.webhooks.remove('caller:a', 'b')).toBe(false);
      expect(await store.webhooks.remove('caller:b', 'b')).toBe(true);
      expect(await store.webhooks.list('caller:b')).toEqual([]);
    });

    it('whose changes at once, by others too, all hold', async () => {
      await store.webhooks.put(webhook('a', { events: '' }), 9);
      const add = (name: string) => (row: WebhookRow) => ({ events: `${row.events} ${name}` });
      const names = times(20, (index) => `n${index}`);
      await Promise.all(
        names.map((name, index) => (index % 2 ? store : other).webhooks.change('caller:a', 'a', add(name))),
      );
      const row = await store.webhooks.get('caller:a', 'a');
      expect(row?.events.split(' ').toSorted()).toEqual(['', ...names].toSorted());
    });

    it('and gives each a new secret, with the one before beside it', async () => {
      await store.webhooks.put(webhook('a'), 9);
      await store.webhooks.put(webhook('b'), 9);
      expect(await store.webhooks.rotate('caller:b', 'a', { secret: 'x', previousUntil: 1 })).toBeNull();
      await store.webhooks.rotate('caller:a', 'a', { secret: 'second', previousUntil: NOW });
      const row = await other.webhooks.rotate('caller:a', 'a', { secret: 'third', previousUntil: NOW + 1 });
      const rotated = { secret: 'third', previousSecret: 'second', previousUntil: NOW + 1 };
      expect(row).toEqual(webhook('a', rotated));
      expect(await store.webhooks.get('caller:a', 'a')).toEqual(row);
      expect(await store.webhooks.get('caller:a', 'b')).toEqual(webhook('b'));
    });

    it('and stores a message once for each that asked for it', async () => {
      await store.webhooks.put(webhook('a'), 9);
      await store.webhooks.put(webhook('a2', { events: 'key.revoked' }), 9);
      await store.webhooks.put(webhook('a3', DISABLED), 9);
      await store.webhooks.put(webhook('b', { owner: 'caller:b' }), 9);
      await Promise.all([store, other].map(({ webhooks }) => webhooks.emit(message('m1'), 'caller:a')));
      await store.webhooks.emit(message('m2'), null);
      await store.webhooks.emit(message('m3', 'balance'), null);
      expect(await messagesTo('a')).toEqual(['m2 waiting', 'm1 waiting']);
      expect(await messagesTo('a2')).toEqual([]);
      expect(await messagesTo('a3')).toEqual([]);
      expect(await messagesTo('b')).toEqual(['m2 waiting']);
      expect(await store.webhooks.emitTo(message('m4', 'test'), 'a2')).toBe(true);
      expect(await store.webhooks.emitTo(message('m4', 'test'), 'a3')).toBe(false);
      expect(await store.webhooks.owners('balance.low', '', 9)).toEqual(['caller:a', 'caller:b']);
      expect(await store.webhooks.owners('balance.low', 'caller:a', 9)).toEqual(['caller:b']);
      const counts = { webhooks: 4, disabled: 1, failing: 0, waiting: 4 };
      expect(await store.webhooks.count(1e15)).toEqual({ ...counts, due: 4 });
      expect(await store.webhooks.count(0)).toEqual({ ...counts, due: 0 });
    });

    it('and tells what is marked once, whoever tells it', async () => {
      await store.webhooks.put(webhook('a'), 9);
      const tell = (from: string | null, to: string) =>
        Promise.all(
          times(6, (at) =>
            (at % 2 ? store : other).webhooks.emit(message(`${to}${at}`), null, { name: 'x', from, to }),
          ),
        );
      await tell(null, 'one');
      await tell('one', 'two');
      await tell('one', 'three');
      expect(await messagesTo('a')).toHaveLength(2);
      expect(await other.webhooks.mark('x')).toBe('two');
    });

    it('and gives each to one process at a time, until its lease ends', async () => {
      await store.webhooks.put(webhook('a'), 9);
      expect(await store.webhooks.take(NOW, NOW + 10)).toBeNull();
      await store.webhooks.emit(message('m1', 'balance.low', NOW + 1), 'caller:a');
      expect(await store.webhooks.take(NOW, NOW + 10)).toBeNull();
      const taken = await Promise.all([store, other].map(({ webhooks }) => webhooks.take(NOW + 1, NOW + 10)));
      expect(taken.filter((row) => row !== null)).toEqual([webhook('a')]);
      expect(await other.webhooks.take(NOW + 10, NOW + 20)).toEqual(webhook('a'));
      await store.webhooks.release('a', NOW + 10);
      expect(await store.webhooks.take(NOW + 11, NOW + 30)).toBeNull();
      await other.webhooks.release('a', NOW + 20);
      expect(await store.webhooks.take(NOW + 11, NOW + 30)).toEqual(webhook('a'));
    });

    it('and first that which has waited longest, of failing ones only where no other waits', async () => {
      await store.webhooks.put({ ...webhook('failing'), failingSince: NOW - 1 }, 9);
      await store.webhooks.emitTo(message('m0', 'test', NOW), 'failing');
      for (const [id, at] of [
        ['a', 3],
        ['b', 1],
        ['c', 2],
      ] as const) {
        await store.webhooks.put(webhook(id), 9);
        await store.webhooks.emitTo(message(`m${at}`, 'test', NOW + at), id);
        await store.webhooks.emitTo(message(`n${at}`, 'test', NOW + 3), id);
      }
      const taken = async () => (await store.webhooks.take(NOW + 5, NOW + 10))?.id;
      const order = [await taken(), await taken(), await taken(), await taken(), await taken()];
      expect(order).toEqual(['b', 'c', 'a', 'failing', undefined]);
    });

    it('and what became of each message, over restarts', async () => {
      await store.webhooks.put(webhook('a'), 9);
      for (const id of ['m1', 'm2', 'm3']) await store.webhooks.emit(message(id), 'caller:a');
      const [first] = await store.webhooks.due('a', NOW, 1);
      expect(first).toMatchObject({ webhook: 'a', message: 'm1', body: message('m1').body, attempts: 0 });
      const result = { webhook: 'a', message: 'm1', lastAt: NOW + 5, took: 7, status: 503, problem: 'busy' };
      const later = { ...result, state: 'waiting', attempts: 1, dueAt: NOW + 60 } as const;
      const failing = { failingSince: NOW + 5, disabledAt: null, disabledBecause: null };
      expect(await store.webhooks.attempted(later, failing)).toBe(true);
      expect(await other.webhooks.attempted(later, failing)).toBe(false);
      await close(store);
      const again = await open();
      expect((await again.webhooks.due('a', NOW + 59, 9)).map((row) => row.message)).toEqual(['m2', 'm3']);
      expect(await again.webhooks.due('a', NOW + 60, 9)).toContainEqual({ ...first, ...later });
      expect(await again.webhooks.get('caller:a', 'a')).toMatchObject({ failingSince: NOW + 5 });
      const gone = { ...result, state: 'failed', attempts: 2, dueAt: null, status: 410 } as const;
      const disabled = { failingSince: NOW + 5, disabledAt: NOW + 70, disabledBecause: 'gone' } as const;
      expect(await again.webhooks.attempted(gone, disabled)).toBe(true);
      expect(await messagesTo('a')).toEqual(['m3 failed', 'm2 failed', 'm1 failed']);
      expect(await again.webhooks.get('caller:a', 'a')).toMatchObject(disabled);
      expect(await again.webhooks.take(NOW + 99, NOW + 100)).toBeNull();
    });

    it('and sends a delivery again, unless its webhook is disabled', async () => {
      await store.webhooks.put(webhook('a'), 9);
      for (const id of ['m1', 'm2']) await store.webhooks.emit(message(id), 'caller:a');
      const result = { webhook: 'a', message: 'm1', lastAt: NOW + 5, took: 7, status: 500, problem: 'busy' };
      const failed = { ...result, state: 'failed', attempts: 1, dueAt: null } as const;
      const fine = { failingSince: null, disabledAt: null, disabledBecause: null };
      await store.webhooks.attempted(failed, fine);
      expect(await other.webhooks.repeat('a', 'm1', NOW + 90)).toBe(true);
      expect(await messagesTo('a')).toEqual(['m2 waiting', 'm1 waiting']);
      expect((await store.webhooks.due('a', NOW + 89, 9)).map((row) => row.message)).toEqual(['m2']);
      expect(await store.webhooks.due('a', NOW + 90, 9)).toContainEqual(
        expect.objectContaining({ message: 'm1', attempts: 0, body: message('m1').body }),
      );
      expect(await store.webhooks.repeat('a', 'm9', NOW)).toBe(false);
      expect(await store.webhooks.repeat('b', 'm1', NOW)).toBe(false);
      await store.webhooks.change('caller:a', 'a', () => DISABLED);
      expect(await store.webhooks.repeat('a', 'm1', NOW)).toBe(false);
      expect(await messagesTo('a')).toEqual(['m2 failed', 'm1 failed']);
    });

    it('and lists deliveries in pages, and forgets the old ones', async () => {
      await store.webhooks.put(webhook('a'), 9);
      for (const at of times(7, (index) => index))
        await store.webhooks.emit(message(`m${at}`, 'balance.low', NOW + Math.floor(at / 2)), null);
      const page = async (before = LATEST, from = 0) =>
        (await store.webhooks.deliveries('a', { from, before, limit: 3 })).map((row) => row.message);
      expect(await page()).toEqual(['m6', 'm5', 'm4']);
      expect(await page({ at: NOW + 2, id: 'm4' })).toEqual(['m3', 'm2', 'm1']);
      expect(await page(LATEST, NOW + 3)).toEqual(['m6']);
      expect(await store.webhooks.purge(NOW + 2, 3)).toBe(3);
      expect(await store.webhooks.purge(NOW + 2, 3)).toBe(1);
      expect(await messagesTo('a')).toHaveLength(3);
    });
  });
}
