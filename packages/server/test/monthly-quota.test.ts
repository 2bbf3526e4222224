import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { collect } from '../../store/test/test-database.ts';
import { hashOf } from './hashes.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  startTestService,
  type TestService,
  testClock,
} from './service.ts';

const NEXT_MONTH = Date.UTC(2027, 3, 1);
const MARCH = 31 * 86_400;
const FREE = ['/v1/receipt/free', { input: 'x', purpose: 'p' }] as const;

let service: TestService;
afterEach(() => service.close());

const send = (texts: readonly string[], headers: Record<string, string>) =>
  service.post('/v1/anchor/batch', { canonical_sha256: texts.map(hashOf) }, headers);
const one = (text: string, headers: Record<string, string>) =>
  service.post('/v1/anchor', { canonical_sha256: hashOf(text) }, headers);

/** Of what `keyWith` has used up, so many hashes are in the log: `used 0` and so on. */
const LOGGED = 10;

/** A Pro key that has used up so many of its month, ninety seconds before the month ends. */
async function keyWith(used: number, options: { database?: 'sqlite' | 'postgres' } = {}) {
  service = await startTestService({ clock: testClock(NEXT_MONTH - 90_000), ...options });
  const key = await apiKey(service, 'pro');
  const { store } = service.services;
  const [row] = await collect(store.apiKeys.list());
  const quota = { counter: `pro:2027-03:${row?.id}`, limit: 50_000, expiresAt: NEXT_MONTH / 1000 };
  const hashes = Array.from({ length: LOGGED }, (_, i) => Buffer.from(hashOf(`used ${i}`), 'base64url'));
  await store.log.accept({ hashes, batchAt: NEXT_MONTH / 1000, quota });
  await countAs(used, quota.counter);
  return key;
}

/**
 * Sets a counter in the database. PostgreSQL ends a transaction that its client leaves idle for three seconds, as one that writes 10,000 hashes
 * may on a busy machine.
 */
async function countAs(used: number, counter: string): Promise<void> {
  const { database } = service.config;
  if (database.kind === 'sqlite') {
    const file = new DatabaseSync(database.path, { timeout: 5_000 });
    expect(file.prepare('update counters set used = ? where counter = ?').run(used, counter).changes).toBe(1);
    return file.close();
  }
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rowCount } = await client.query('update counters set used = $1 where counter = $2', [
    used,
    counter,
  ]);
  expect(rowCount).toBe(1);
  await client.end();
}

describe.each(DATABASES)('the month of a Pro key on %s', (database) => {
  it('has 50,000 hashes and receipts, and says when the next begins', async () => {
    const key = await keyWith(49_998, { database });
    const first = await one('the 49,999th', key);
    expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"pro";r=1;t=90']);
    const again = await one('the 49,999th', key);
    expect([again.status, again.headers.get('ratelimit')]).toEqual([200, '"pro";r=1;t=90']);
    const last = await service.post(...FREE, key);
    expect(last.status).toBe(200);
    expect(last.headers.get('ratelimit-policy')).toBe(`"pro";q=50000;w=${MARCH}`);
    expect(last.headers.get('ratelimit')).toBe('"pro";r=0;t=90');

    const anchored = ['/v1/receipt/emit', { input: 'x', anchor: true }] as const;
    const refusals = [
      await one('the 50,001st', key),
      await send(['a', 'b'], key),
      await service.post(...FREE, key),
      await service.post(...anchored, key),
    ];
    for (const refused of refusals) {
      expectProblem(refused, 'quota_exceeded');
      expect(refused.json.detail).toContain('2027-04-01T00:00:00Z');
      expect(refused.headers.get('retry-after')).toBe('90');
      expect(refused.headers.get('ratelimit')).toBe('"pro";r=0;t=90');
      expect(refused.headers.get('ratelimit-policy')).toBe(`"pro";q=50000;w=${MARCH}`);
    }
    expect((await service.get('/v1/log')).json.accepted).toBe(LOGGED + 1);

    expect((await one('the 49,999th', key)).status).toBe(200);
    expect((await send(['used 0', 'used 1'], key)).status).toBe(200);
    expect((await one('the 50,001st', await apiKey(service, 'pro'))).status).toBe(200);
    expect((await one('another', await apiKey(service, 'scale'))).status).toBe(200);
    service.clock.advance(90_000);
    expect((await send(['a', 'b'], key)).status).toBe(200);
  });

  it('takes a batch whole or not at all', async () => {
    const key = await keyWith(49_998, { database });
    const refused = await send(['a', 'b', 'c'], key);
    expectProblem(refused, 'quota_exceeded');
    expect(refused.json.detail).toMatch(/needs 3 .*and 2 are left/);
    expect(refused.headers.get('ratelimit')).toBe('"pro";r=2;t=90');
    expectProblem(await service.get(`/v1/anchor/by-hash/${hashOf('a')}`), 'anchor_not_found');
    expect((await send(['a', 'b', 'a', 'used 7'], key)).status).toBe(200);
    expectProblem(await one('c', key), 'quota_exceeded');
  });

  it('counts an anchored receipt once, replays and refused requests never', async () => {
    const key = await keyWith(49_998, { database });
    const idempotent = { ...key, 'idempotency-key': 'k' };
    const mint = () => service.post('/v1/receipt/emit', { input: 'x', anchor: true }, idempotent);
    const first = await mint();
    for (let i = 0; i < 3; i++) expect((await mint()).text).toBe(first.text);
    expectProblem(await service.post('/v1/receipt/emit', { input: '' }, key), 'empty_input', 'input');
    expectProblem(
      await service.post('/v1/anchor', { canonical_sha256: 'x' }, key),
      'invalid_base64url',
      'canonical_sha256',
    );
    expect((await service.post(...FREE, key)).headers.get('ratelimit')).toBe('"pro";r=0;t=90');
    expect((await mint()).text).toBe(first.text);
    expectProblem(await service.post(...FREE, key), 'quota_exceeded');
  });
});
