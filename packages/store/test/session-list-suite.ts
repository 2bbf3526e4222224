import type { NewCall } from '@tallystick/inference';
import type { ListedReceipt, ListedSession, SessionPage } from '@tallystick/receipts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const OWNER = 'caller:key_a';
const OTHER = 'caller:key_b';
const NOW = 1_800_000_000;
const SIGNED = '5f0c1b2a9d8e7f60112233445566778a';

const call = (id: string, change: Partial<NewCall> = {}): NewCall => ({
  id,
  owner: OWNER,
  at: 100,
  receiptId: 'r',
  model: 'openai/small',
  requestedModel: 'auto',
  provider: 'openai',
  routeReason: null,
  stream: 0,
  promptTokens: 1,
  completionTokens: 1,
  cachedTokens: 0,
  cost: 7n,
  saving: 0n,
  firstByteMs: 1,
  totalMs: 2,
  status: 200,
  errorCode: null,
  did: null,
  key: 'key_a',
  session: 'run 1',
  tags: null,
  requestHash: null,
  detail: null,
  ...change,
});

const step = (id: string, change: Partial<ListedReceipt> = {}): ListedReceipt => ({
  id,
  owner: OWNER,
  at: 100,
  profile: 'standard',
  purpose: 'tool_call',
  did: null,
  model: null,
  provider: null,
  status: null,
  key: 'key_a',
  requestHash: null,
  session: SIGNED,
  cost: 5n,
  leafIndex: null,
  expiresAt: NOW + 1,
  ...change,
});

const session = (id: string, change: Partial<ListedSession> = {}): ListedSession => ({
  id,
  at: 100,
  lastAt: 100,
  calls: 0,
  errors: 0,
  receipts: 0,
  toolCalls: 0,
  cost: 0n,
  ...change,
});

/** The guarantees of `SessionListStore`, to be kept by every adapter. */
export function sessionListSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} lists sessions`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const page = (change: Partial<SessionPage> = {}): Promise<ListedSession[]> =>
      store.sessionList.page({
        owner: OWNER,
        key: null,
        from: 0,
        before: { at: 1e15, id: '' },
        now: NOW,
        limit: 100,
        ...change,
      });

    it('of calls and of signed receipts together, each session once and each row counted once', async () => {
      const calls = [
        call('a', { at: 300, cost: 2n ** 61n }),
        call('b', { at: 200, errorCode: 'model_not_found', status: 404 }),
        call('c', { session: null }),
        call('d', { at: 250, session: SIGNED }),
      ];
      await store.calls.put(calls.slice(0, 2));
      await store.calls.put(calls);
      const steps = [
        step('opening', { purpose: 'session', at: 150, cost: null }),
        step('tool', { at: 400 }),
        step('none', { session: null }),
        step('named', { session: 'what an envelope says' }),
      ];
      await store.receiptList.put(steps.slice(0, 1));
      await store.receiptList.put(steps);
      expect(await page()).toEqual([
        session('run 1', { at: 200, lastAt: 300, calls: 2, errors: 1, cost: 2n ** 61n + 7n }),
        session(SIGNED, { at: 150, lastAt: 400, calls: 1, receipts: 2, toolCalls: 1, cost: 12n }),
      ]);
    });

    it('of one owner and, if asked, of one key', async () => {
      await store.calls.put([
        call('a'),
        call('b', { key: 'key_c', at: 120 }),
        call('c', { key: null, at: 90 }),
        call('d', { owner: OTHER, key: 'key_b' }),
      ]);
      await store.receiptList.put([step('e', { key: 'key_c', session: SIGNED, at: 80 })]);
      expect(await page()).toEqual([
        session('run 1', { at: 90, lastAt: 120, calls: 3, cost: 21n }),
        session(SIGNED, { at: 80, lastAt: 80, receipts: 1, toolCalls: 1, cost: 5n }),
      ]);
      expect(await page({ key: 'key_a' })).toEqual([session('run 1', { calls: 1, cost: 7n })]);
      expect((await page({ key: 'key_c' })).map(({ id, calls }) => [id, calls])).toEqual([
        ['run 1', 1],
        [SIGNED, 0],
      ]);
      expect(await page({ key: 'key_b' })).toEqual([]);
      expect(await page({ owner: OTHER })).toEqual([session('run 1', { calls: 1, cost: 7n })]);
      expect(await page({ owner: 'caller:key_c' })).toEqual([]);
    });

    it('newest first, in parts, none twice and none lost while others begin and go on', async () => {
      const calls = times(40, (n) => {
        const at = 100 + Math.floor(n / 6);
        return call(`c${n}`, { session: `s ${(n * 7) % 40} ü`, at });
      });
      await store.calls.put(calls);
      const seen: ListedSession[] = [];
      let before = { at: 1e15, id: '' };
      for (;;) {
        const read = await page({ from: 101, before, limit: 5 });
        seen.push(...read);
        const last = read.at(-1);
        before = last === undefined ? before : { at: last.at, id: last.id };
        if (read.length < 5) break;
        const place = seen.length;
        await store.calls.put([
          call(`new${place}`, { session: `new ${place}`, at: 10_000 }),
          call(`again${place}`, { session: calls[place]?.session ?? null, at: 10_000 }),
        ]);
      }
      const expected = calls
        .filter(({ at }) => at >= 101)
        .sort((a, b) => b.at - a.at || ((a.session ?? '') < (b.session ?? '') ? 1 : -1));
      expect(seen.map(({ id }) => id)).toEqual(expected.map(({ session: id }) => id));
    });

    it('until their receipts have expired, but those with calls for good', async () => {
      await store.receiptList.put([
        step('a', { session: SIGNED }),
        step('b', { session: SIGNED, expiresAt: NOW - 1 }),
        step('c', { session: 'a'.repeat(32), expiresAt: NOW }),
        step('d', { session: 'b'.repeat(32), expiresAt: NOW - 1 }),
      ]);
      await store.calls.put([call('e', { session: 'b'.repeat(32) })]);
      const left = ['b'.repeat(32), SIGNED];
      expect((await page()).map(({ id }) => id)).toEqual(left);
      // Of everything, and of the key.
      expect(await store.sessionList.purge(NOW, 1)).toBe(1);
      expect(await store.sessionList.purge(NOW, 9)).toBe(1);
      expect((await page({ now: 0 })).map(({ id }) => id)).toEqual(left);
    });
  });
}
