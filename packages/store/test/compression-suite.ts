import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_NOTES } from '../../inference/src/compression-store.ts';
import type { Store } from '../src/store.ts';
import { settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const NOW = 1_800_000_000;
const TIME = { now: NOW, expiresAt: NOW + 100 };

const note = (key: string, value: string, replaces: string | null = null) => ({ key, value, replaces });

/** The guarantees of {@link CompressionStore}, to be kept by every adapter. */
export function compressionSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the forms in which conversations were sent`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    const recall = (conversation = 'c', account = 'caller:a', now = NOW) =>
      store.compression.recall(account, conversation, now).then((notes) => Object.fromEntries(notes));

    beforeEach(async () => {
      store = await open();
    });

    it('by account and conversation, for others at once', async () => {
      const { compression } = await open();
      await compression.remember('caller:a', 'c', [note('k', '1'), note('j', '2')], TIME);
      await compression.remember('caller:b', 'c', [note('k', '3')], TIME);
      await compression.remember('caller:a', 'd', [note('k', '4')], TIME);
      expect(await recall()).toEqual({ j: '2', k: '1' });
      expect(await recall('c', 'caller:b')).toEqual({ k: '3' });
      expect(await recall('e')).toEqual({});
    });

    it('as the first writer wrote them, and answers those', async () => {
      const other = (await open()).compression;
      for (const round of times(10, (i) => `c${i}`)) {
        const [one, two] = await Promise.all([
          store.compression.remember('caller:a', round, [note('x', '1'), note('y', '1')], TIME),
          other.remember('caller:a', round, [note('y', '2'), note('x', '2')], TIME),
        ]);
        expect(one).toEqual(two);
        expect(await recall(round)).toEqual(Object.fromEntries(one));
        expect(one.get('x')).toBe(one.get('y'));
      }
    });

    it('and replaces only what the writer has read', async () => {
      const { compression } = store;
      const write = async (value: string, replaces: string | null) =>
        (await compression.remember('caller:a', 'c', [note('k', value, replaces)], TIME)).get('k');
      expect(await write('1', null)).toBe('1');
      expect(await write('2', null)).toBe('1');
      expect(await write('2', '0')).toBe('1');
      expect(await write('2', '1')).toBe('2');
      expect(await write('3', '1')).toBe('2');
    });

    it('until they expire; what is written again lives on', async () => {
      const { compression } = store;
      await compression.remember('caller:a', 'c', [note('k', '1'), note('l', '1')], TIME);
      const later = { now: NOW + 99, expiresAt: NOW + 200 };
      await compression.remember('caller:a', 'c', [note('k', '2')], later);
      expect(await recall('c', 'caller:a', NOW + 99)).toEqual({ k: '1', l: '1' });
      expect(await recall('c', 'caller:a', NOW + 100)).toEqual({ k: '1' });
      expect(await compression.purge(NOW + 100)).toBe(1);
      expect(await compression.purge(NOW + 100)).toBe(0);
      const anew = await compression.remember('caller:a', 'c', [note('k', '3')], {
        now: NOW + 200,
        expiresAt: NOW + 300,
      });
      expect(anew.get('k')).toBe('3');
    });

    it('so many of an account, those that expire first making room', async () => {
      const { compression } = store;
      await compression.remember('caller:b', 'c', [note('k', '1')], TIME);
      await compression.remember('caller:a', 'old', [note('k', '1')], TIME);
      const many = times(MAX_NOTES - 1, (i) => note(`k${i}`, '1'));
      await compression.remember('caller:a', 'c', many, { now: NOW, expiresAt: NOW + 200 });
      expect(await recall('old')).toEqual({ k: '1' });
      await compression.remember('caller:a', 'new', [note('k', '1')], { now: NOW, expiresAt: NOW + 300 });
      expect(await recall('old')).toEqual({});
      expect(Object.keys(await recall('c'))).toHaveLength(MAX_NOTES - 1);
      expect(await recall('new')).toEqual({ k: '1' });
      expect(await recall('c', 'caller:b')).toEqual({ k: '1' });
    });
  });

  describe(`${name} counts what compression did`, () => {
    const { open } = useDatabase(createDatabase);

    it('by subject and by method, and for all', async () => {
      const { ledger } = await open();
      const compressed = (id: string, subject: string, saved: number) => {
        const plain = settlement(id, 0n, { reservationId: null, entries: [] });
        const methods = { 'json-tsv': saved - 1, dedupe: 1 };
        return ledger.settle({
          ...plain,
          usage: { ...plain.usage, subject, savedTokens: saved, saving: 2n ** 55n + 1n, share: 7n },
          compression: {
            changed: saved > 0,
            tokensBefore: 100,
            tokensAfter: 100 - saved,
            lostCacheTokens: 3,
            methods,
          },
        });
      };
      const none = await ledger.compression(null);
      expect(none).toEqual({
        calls: 0,
        changedCalls: 0,
        tokensBefore: 0,
        tokensAfter: 0,
        lostCacheTokens: 0,
        saving: 0n,
        share: 0n,
        methods: [],
      });
      await Promise.all([
        compressed('c1', 'did:web:a', 30),
        compressed('c2', 'did:web:a', 50),
        compressed('c3', 'did:web:b', 10),
      ]);
      await compressed('c4', 'did:web:a', 20);
      await compressed('c4', 'did:web:a', 20);
      await ledger.settle(settlement('c5', 0n, { reservationId: null, entries: [] }));
      expect(await ledger.compression('did:web:a')).toEqual({
        calls: 3,
        changedCalls: 3,
        tokensBefore: 300,
        tokensAfter: 200,
        lostCacheTokens: 9,
        saving: 3n * (2n ** 55n + 1n),
        share: 21n,
        methods: [
          { method: 'dedupe', calls: 3, tokens: 3 },
          { method: 'json-tsv', calls: 3, tokens: 97 },
        ],
      });
      expect(await ledger.compression(null)).toMatchObject({
        calls: 4,
        changedCalls: 4,
        tokensAfter: 290,
        share: 28n,
        methods: [
          { method: 'dedupe', calls: 4, tokens: 4 },
          { method: 'json-tsv', calls: 4, tokens: 106 },
        ],
      });
      const plain = settlement('c6', 0n, { reservationId: null, entries: [] });
      const unchanged = { changed: false, tokensBefore: 7, tokensAfter: 7, lostCacheTokens: 0, methods: {} };
      await ledger.settle({
        ...plain,
        usage: { ...plain.usage, subject: 'did:web:c' },
        compression: unchanged,
      });
      for (const [subject, calls, before] of [
        ['did:web:c', 1, 7],
        [null, 5, 407],
      ] as const) {
        expect(await ledger.compression(subject)).toMatchObject({ calls, tokensBefore: before });
      }
      expect(await ledger.usage('did:web:a')).toMatchObject([
        { calls: 4, savedTokens: 100, saving: 3n * (2n ** 55n + 1n), share: 21n },
      ]);
    });
  });
}
