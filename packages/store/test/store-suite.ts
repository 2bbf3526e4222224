import type { IdempotencyRecord, ReceiptRow } from '@tallystick/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { type CreateDatabase, collect, times, useDatabase } from './test-database.ts';

const NOW = 1_800_000_000;

/** What the migrations after the first one add. */
const LATER_TABLES = [
  'did_limits',
  'spending',
  'api_keys',
  'leaves',
  'log_state',
  'tiles',
  'checkpoints',
  'postings',
  'posting_attempts',
  'accounts',
  'reservations',
  'ledger_postings',
  'ledger_entries',
  'usage_days',
  'members',
  'compression_notes',
  'compression_days',
  'compression_method_days',
  'transfer_cursors',
  'treasury_marks',
  'transfers',
  'orders',
  'payouts',
  'payout_attempts',
  'x402_payments',
  'x402_channels',
  'tenants',
  'tenant_keys',
  'room_purges',
  'room_exports',
  'processes',
  'claims',
  'log_witnesses',
  'sessions',
  'session_places',
  'learned',
  'rated_calls',
  'model_rests',
  'receipt_list',
  'receipt_counts',
  'session_list',
  'anchor_list',
  'calls',
  'call_tags',
  'call_details',
  'call_writers',
  'call_counts',
  'call_contents',
  'webhooks',
  'webhook_deliveries',
  'webhook_marks',
  'status_states',
  'status_days',
  'status_incidents',
  'operator_keys',
  'streams',
  'stream_rounds',
  'stream_heads',
];

function receipt(id: string, change: Partial<ReceiptRow> = {}): ReceiptRow {
  const body = `{"id":"${id}","text":"é\\u0000"}`;
  return { id, profile: 'standard', tenant: null, body, issuedAt: NOW, expiresAt: NOW + 100, ...change };
}

function key(scope: string, requestHash = 'a', expiresAt = NOW + 50): IdempotencyRecord {
  return { scope, requestHash, expiresAt };
}

/** The guarantees of {@link Store}, to be kept by every adapter. */
export function storeSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the guarantees of Store`, () => {
    const { open, close, execute } = useDatabase(createDatabase);
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    describe('receipts', () => {
      it('are readable by others as soon as they are answered, byte for byte, and after a reopen', async () => {
        const row = receipt('r1', { tenant: 'acme' });
        expect(await store.putReceipt(row)).toEqual({ kind: 'stored' });
        const found = { kind: 'found', body: row.body, tenant: 'acme', expiresAt: row.expiresAt };
        expect(await (await open()).getReceipt('r1')).toEqual(found);
        await close(store);
        expect(await (await open()).getReceipt('r1')).toEqual(found);
      });

      it('are all stored when 1,500 come at once', async () => {
        const rows = times(1_500, (i) => receipt(`r${i}`, { tenant: i % 2 ? 'odd' : null }));
        const outcomes = await Promise.all(rows.map((row) => store.putReceipt(row)));
        expect(outcomes.every((outcome) => outcome.kind === 'stored')).toBe(true);
        const read = await Promise.all(rows.map((row) => store.getReceipt(row.id)));
        expect(read).toEqual(
          rows.map(({ body, tenant, expiresAt }) => ({ kind: 'found', body, tenant, expiresAt })),
        );
      });

      it('keep the first body of an id, and a taken id fails no neighbour', async () => {
        await store.putReceipt(receipt('old', { body: '"first"' }));
        const outcomes = await Promise.all([
          store.putReceipt(receipt('a')),
          store.putReceipt(receipt('old', { body: '"second"' })),
          store.putReceipt(receipt('twice', { body: '"first"' })),
          store.putReceipt(receipt('twice', { body: '"second"' })),
          store.putReceipt(receipt('b')),
        ]);
        expect(outcomes.map((outcome) => outcome.kind)).toEqual([
          'stored',
          'id_taken',
          'stored',
          'id_taken',
          'stored',
        ]);
        expect(await store.getReceipt('old')).toMatchObject({ body: '"first"' });
        expect(await store.getReceipt('twice')).toMatchObject({ body: '"first"' });
      });

      it('fail alone when the database refuses their data', async () => {
        const refused = receipt('refused', { profile: null as never });
        const outcomes = await Promise.allSettled([
          store.putReceipt(receipt('a')),
          store.putReceipt(refused, key('refused')),
          store.consume('c', 5, NOW),
          store.putReceipt(receipt('b')),
        ]);
        expect(outcomes.map((outcome) => outcome.status)).toEqual([
          'fulfilled',
          'rejected',
          'fulfilled',
          'fulfilled',
        ]);
        expect(await store.getReceipt('b')).toMatchObject({ kind: 'found' });
        expect(await store.getReceipt('refused')).toEqual({ kind: 'unknown' });
        expect(await store.findIdempotent('refused', 'a', NOW)).toBeNull();
        expect(await store.consume('c', 5, NOW)).toEqual({ allowed: true, used: 2 });
      });

      it('are unknown when never stored', async () => {
        expect(await store.getReceipt('never')).toEqual({ kind: 'unknown' });
      });
    });

    describe('idempotency', () => {
      it('replays the first response, refuses another request, and writes nothing more', async () => {
        const row = receipt('r1');
        await store.putReceipt(row, key('s'));
        const replayed = { kind: 'replayed', response: row.body };
        expect(await store.putReceipt(receipt('r2'), key('s'))).toEqual(replayed);
        expect(await store.putReceipt(receipt('r3'), key('s', 'b'))).toEqual({ kind: 'reused' });
        expect(await store.getReceipt('r2')).toEqual({ kind: 'unknown' });
        expect(await store.getReceipt('r3')).toEqual({ kind: 'unknown' });
        await close(store);
        const again = await open();
        expect(await again.putReceipt(receipt('r2'), key('s'))).toEqual(replayed);
        expect(await again.findIdempotent('s', 'a', NOW)).toEqual(replayed);
        expect(await again.findIdempotent('s', 'b', NOW)).toEqual({ kind: 'reused' });
        expect(await again.findIdempotent('other', 'a', NOW)).toBeNull();
      });

      it('stores one of many that come at once, over two connections', async () => {
        const other = await open();
        const outcomes = await Promise.all(
          times(60, (i) =>
            (i % 2 ? store : other).putReceipt(receipt(`r${i}`), key('s', i < 40 ? 'a' : 'b')),
          ),
        );
        const winner = outcomes.findIndex((outcome) => outcome.kind === 'stored');
        const replayed = { kind: 'replayed', response: receipt(`r${winner}`).body };
        const expected = outcomes.map((_, i) => {
          if (i === winner) return { kind: 'stored' };
          return i < 40 === winner < 40 ? replayed : { kind: 'reused' };
        });
        expect(outcomes).toEqual(expected);
        const read = await Promise.all(outcomes.map((_, i) => store.getReceipt(`r${i}`)));
        expect(read.flatMap(({ kind }, i) => (kind === 'unknown' ? [] : i))).toEqual([winner]);
      });

      it('never deadlocks when two connections take the same keys in opposite order', async () => {
        const other = await open();
        const forth = times(200, (i) => store.putReceipt(receipt(`f${i}`), key(`s${i}`)));
        const back = times(200, (i) => other.putReceipt(receipt(`b${i}`), key(`s${199 - i}`)));
        const outcomes = await Promise.all([...forth, ...back]);
        expect(outcomes.filter((outcome) => outcome.kind === 'stored')).toHaveLength(200);
        expect(outcomes.filter((outcome) => outcome.kind === 'replayed')).toHaveLength(200);
      });

      it('leaves the key free when the id is taken', async () => {
        await store.putReceipt(receipt('r1'));
        const [taken, next] = await Promise.all([
          store.putReceipt(receipt('r1'), key('s')),
          store.putReceipt(receipt('r2'), key('s')),
        ]);
        expect(taken).toEqual({ kind: 'id_taken' });
        expect(next).toEqual({ kind: 'stored' });
      });

      it('ends at its own expiry, or its receipt’s when that is earlier', async () => {
        await store.putReceipt(receipt('long'), key('a', 'a', NOW + 50));
        await store.putReceipt(receipt('short', { expiresAt: NOW + 10 }), key('b', 'a', NOW + 50));
        expect(await store.findIdempotent('a', 'a', NOW + 49)).toMatchObject({ kind: 'replayed' });
        expect(await store.findIdempotent('a', 'a', NOW + 50)).toBeNull();
        expect(await store.findIdempotent('b', 'a', NOW + 9)).toMatchObject({ kind: 'replayed' });
        expect(await store.findIdempotent('b', 'a', NOW + 10)).toBeNull();
      });
    });

    describe('purge', () => {
      it('takes the body, leaves the id, and frees keys and counters', async () => {
        await store.putReceipt(receipt('short', { expiresAt: NOW + 10, tenant: 'acme' }), key('s'));
        await store.putReceipt(receipt('long'));
        await store.consume('c', 1, NOW + 10);
        expect(await store.purge(NOW + 9)).toEqual({ receipts: 0, idempotency: 0, counters: 0 });
        expect(await store.getReceipt('short')).toMatchObject({ kind: 'found' });
        expect(await store.purge(NOW + 10)).toEqual({ receipts: 1, idempotency: 1, counters: 1 });
        expect(await store.getReceipt('short')).toEqual({ kind: 'purged', tenant: 'acme' });
        expect(await store.getReceipt('long')).toMatchObject({ kind: 'found' });
        expect(await store.putReceipt(receipt('short'))).toEqual({ kind: 'id_taken' });
        expect(await store.putReceipt(receipt('next'), key('s', 'other'))).toEqual({ kind: 'stored' });
        expect(await store.consume('c', 1, NOW + 20)).toEqual({ allowed: true, used: 1 });
      });

      it('goes in bounded steps and never leaves a key whose receipt is gone', async () => {
        const rows = times(25, (i) => receipt(`r${i}`, { expiresAt: NOW + 10 }));
        for (const did of times(15, (i) => `did:svc:${i}`)) {
          await store.putIssuer(did, '{}', 1, { ...key(did, 'a', NOW), response: '{}' });
        }
        await Promise.all(rows.map((row) => store.putReceipt(row, key(row.id))));
        let purged = 0;
        for (let step = await store.purge(NOW + 10, 10); step.receipts + step.idempotency > 0; ) {
          expect(Math.max(step.receipts, step.idempotency)).toBeLessThanOrEqual(10);
          purged += step.receipts;
          const probes = await Promise.all(rows.map((row) => store.putReceipt(receipt('r0'), key(row.id))));
          const replayed = probes.map(
            (probe, i) => probe.kind === 'replayed' && probe.response === rows[i]?.body,
          );
          expect(probes.map((probe) => probe.kind === 'replayed')).toEqual(replayed);
          step = await store.purge(NOW + 10, 10);
        }
        expect(purged).toBe(25);
      });

      it('counts every receipt once when several run at once', async () => {
        await Promise.all(times(200, (i) => store.putReceipt(receipt(`r${i}`), key(`s${i}`))));
        const other = await open();
        let receipts = 0;
        for (let round = 0; round < 20; round += 1) {
          const steps = await Promise.all([store.purge(NOW + 100, 50), other.purge(NOW + 100, 50)]);
          for (const step of steps) receipts += step.receipts;
        }
        expect(receipts).toBe(200);
      });
    });

    describe('consume', () => {
      it('never passes the limit, over two connections', async () => {
        const other = await open();
        const outcomes = await Promise.all(
          times(300, (i) => (i % 2 ? store : other).consume(i % 3 ? 'a' : 'b', 70, NOW)),
        );
        const used = (counter: string): number[] =>
          outcomes
            .filter((outcome, i) => outcome.allowed && (i % 3 ? 'a' : 'b') === counter)
            .map((outcome) => outcome.used)
            .sort((x, y) => x - y);
        expect(used('a')).toEqual(times(70, (i) => i + 1));
        expect(used('b')).toEqual(times(70, (i) => i + 1));
        await close(store);
        expect(await other.consume('a', 70, NOW)).toEqual({ allowed: false, used: 70 });
      });

      it('follows a limit that changes and never counts down', async () => {
        expect(await store.consume('c', 0, NOW)).toEqual({ allowed: false, used: 0 });
        expect(await store.consume('c', 2, NOW)).toEqual({ allowed: true, used: 1 });
        expect(await store.consume('c', 2, NOW)).toEqual({ allowed: true, used: 2 });
        expect(await store.consume('c', 1, NOW)).toEqual({ allowed: false, used: 2 });
        expect(await store.consume('c', 3, NOW)).toEqual({ allowed: true, used: 3 });
      });
    });

    describe('issuers', () => {
      it('swap only from the sequence before', async () => {
        expect(await store.getIssuer('did:svc:a')).toBeNull();
        expect(await store.putIssuer('did:svc:a', '{"n":2}', 2)).toBe('conflict');
        expect(await store.putIssuer('did:svc:a', '{"n":1}', 1)).toBe('stored');
        expect(await store.putIssuer('did:svc:a', '{"n":9}', 1)).toBe('conflict');
        expect(await store.putIssuer('did:svc:a', '{"n":9}', 3)).toBe('conflict');
        expect(await store.putIssuer('did:svc:a', '{ "n":2 }', 2)).toBe('stored');
        expect(await store.getIssuer('did:svc:a')).toEqual({ record: '{ "n":2 }', sequence: 2 });
      });

      it('let one of many swaps at once win', async () => {
        const other = await open();
        for (const sequence of [1, 2, 3]) {
          const outcomes = await Promise.all(
            times(12, (i) => (i % 2 ? store : other).putIssuer('did:svc:a', `{"n":${i}}`, sequence)),
          );
          expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1);
          const record = `{"n":${outcomes.indexOf('stored')}}`;
          expect(await store.getIssuer('did:svc:a')).toEqual({ record, sequence });
        }
      });

      it('replay under a key, and a conflict leaves it free', async () => {
        const once = { ...key('s'), response: '{"ok":true}' };
        expect(await store.putIssuer('did:svc:a', '{}', 2, once)).toBe('conflict');
        expect(await store.putIssuer('did:svc:a', '{}', 1, once)).toBe('stored');
        const replayed = { kind: 'replayed', response: '{"ok":true}' };
        expect(await store.putIssuer('did:svc:a', '{}', 1, once)).toEqual(replayed);
        expect(await store.findIdempotent('s', 'a', NOW)).toEqual(replayed);
        expect(await store.putIssuer('did:svc:b', '{}', 1, { ...once, requestHash: 'b' })).toEqual({
          kind: 'reused',
        });
        expect(await store.getIssuer('did:svc:b')).toBeNull();
      });

      it('are listed in byte order, over pages, by status', async () => {
        const dids = times(450, (i) => `did:svc:${i % 2 ? 'A' : 'a'}-${i}${i % 5 ? '' : '_'}`);
        const status = (did: string): string => (did.includes('A') ? 'verified' : 'registered');
        for (const did of dids) await store.putIssuer(did, `{"status":"${status(did)}"}`, 1);
        const sorted = [...dids].sort();
        const all = await collect(store.listIssuers());
        expect(all.map((row) => row.did)).toEqual(sorted);
        expect(all[0]).toEqual({ did: sorted[0], record: '{"status":"verified"}', sequence: 1 });
        const some = await collect(store.listIssuers({ status: 'registered' }));
        expect(some.map((row) => row.did)).toEqual(sorted.filter((did) => status(did) === 'registered'));
        expect(await collect(store.listIssuers({ status: 'other' }))).toEqual([]);
      });
    });

    describe('documents', () => {
      it('only grow in version, by name', async () => {
        expect(await store.getDocument('trust')).toBeNull();
        expect(await store.putDocument('trust', 3, 'three')).toBe('stored');
        expect(await store.putDocument('trust', 3, 'again')).toBe('stale');
        expect(await store.putDocument('trust', 2, 'two')).toBe('stale');
        expect(await store.putDocument('other', 1, 'one')).toBe('stored');
        expect(await store.putDocument('trust', 10, 'ten')).toBe('stored');
        expect(await store.getDocument('trust')).toEqual({ version: 10, body: 'ten' });
        expect(await store.getDocumentVersion('trust', 3)).toBe('three');
        expect(await store.getDocumentVersion('trust', 4)).toBeNull();
      });

      it('leave no older version where they are replaced, and touch no other name', async () => {
        await store.putDocument('trust', 7, 'trust');
        for (const version of [1, 2, 5]) {
          expect(await store.replaceDocument('status', version, `v${version}`)).toBe('stored');
        }
        expect(await store.replaceDocument('status', 5, 'again')).toBe('stale');
        expect(await store.replaceDocument('status', 4, 'older')).toBe('stale');
        expect(await store.getDocument('status')).toEqual({ version: 5, body: 'v5' });
        await execute("delete from documents where name = 'status' and version = 5");
        expect(await store.getDocument('status')).toBeNull();
        expect(await store.getDocument('trust')).toEqual({ version: 7, body: 'trust' });
      });

      it('store no older version after a newer one when writers race', async () => {
        const other = await open();
        const versions = times(30, (i) => ((i * 7) % 30) + 1);
        const order: number[] = [];
        await Promise.all(
          versions.map(async (version, i) => {
            const outcome = await (i % 2 ? store : other).putDocument('trust', version, `v${version}`);
            if (outcome === 'stored') order.push(version);
          }),
        );
        expect(Math.max(...order)).toBe(30);
        expect(await store.getDocument('trust')).toEqual({ version: 30, body: 'v30' });
      });
    });

    describe('its life', () => {
      it('answers a ping, and not when closed', async () => {
        await store.ping();
        await close(store);
        await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
      });

      it('drains what waits when it closes, and then refuses', async () => {
        const puts = times(700, (i) => store.putReceipt(receipt(`r${i}`)));
        await close(store);
        const outcomes = await Promise.all(puts);
        expect(outcomes.every((outcome) => outcome.kind === 'stored')).toBe(true);
        await expect(store.putReceipt(receipt('late'))).rejects.toMatchObject({ code: 'unavailable' });
        expect(await (await open()).getReceipt('r699')).toMatchObject({ kind: 'found' });
      });

      it('opens an empty database from several places at once', async () => {
        const database = await createDatabase();
        const stores = await Promise.all(times(4, () => database.open()));
        await stores[0]?.putReceipt(receipt('r1'));
        expect(await stores[3]?.getReceipt('r1')).toMatchObject({ kind: 'found' });
        await Promise.all(stores.map((store) => store.close()));
      });

      it('brings a database of an earlier release up to date, with all that it holds', async () => {
        await store.putReceipt(receipt('r1'));
        await close(store);
        for (const table of LATER_TABLES) await execute(`drop table ${table}`);
        for (const column of ['owned_by', 'made_with'])
          await execute(`alter table receipts drop column ${column}`);
        await execute('drop index receipts_room');
        await execute('drop table schema_migrations');
        await execute(
          'create table schema_migrations (version bigint primary key, name text, applied_at bigint)',
        );
        await execute("insert into schema_migrations values (1, 'initial', 0)");
        const again = await open();
        expect(await again.getReceipt('r1')).toMatchObject({ kind: 'found' });
        expect(await again.log.countLeaves()).toBe(0);
      });

      it('opens a database of a newer release that has only added to it', async () => {
        await store.putReceipt(receipt('r1'));
        await execute(
          "insert into schema_migrations (version, name, applied_at, release) values (99, 'later', 0, '9.8.7')",
        );
        expect(await (await open()).getReceipt('r1')).toMatchObject({ kind: 'found' });
      });

      it('refuses a database from which a newer release has taken away, and names that release', async () => {
        await execute("insert into schema_migrations values (98, 'contracted', 0, '9.8.6', 97)");
        await execute("insert into schema_migrations values (99, 'later', 0, '9.8.7', null)");
        await expect(open()).rejects.toMatchObject({
          code: 'unavailable',
          message: expect.stringMatching(
            /^Release 9\.8\.7 has .* version 99, .* version 97\. This is release 0\./,
          ),
        });
      });
    });
  });
}
