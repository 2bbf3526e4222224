import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { IdempotencyRecord } from '../store/idempotency-store.ts';
import type { AppEnv } from './context.ts';
import { type IdempotentRequest, idempotencyClaim, replayOf } from './idempotency.ts';

const request: IdempotentRequest = {
  caller: 'a',
  route: '/x',
  body: { b: 1, a: [2] },
  now: 1_700_000_000_500,
};

async function claim(key: string | undefined, changes: Partial<IdempotentRequest> = {}, agent?: string) {
  let made: IdempotencyRecord | undefined;
  const app = new Hono<AppEnv>()
    .get('/', (c) => {
      made = idempotencyClaim(c, { ...request, ...changes });
      return c.text('');
    })
    .onError((error) => {
      throw error;
    });
  const headers = {
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(agent === undefined ? {} : { 'x-agent-did': agent }),
  };
  await app.request('/', { headers });
  return made;
}

describe('idempotencyClaim', () => {
  it('is made only of a request with a key', async () => {
    expect(await claim(undefined)).toBeUndefined();
    expect(await claim('k')).toEqual({
      scope: expect.stringMatching(/^[0-9a-f]{64}$/),
      requestHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      expiresAt: 1_700_000_000 + 72 * 3_600,
    });
  });

  it.each([[''], ['a b'], ['é'], ['x'.repeat(256)]])('refuses the key %j', async (key) => {
    await expect(claim(key)).rejects.toMatchObject({ code: 'idempotency_key_invalid' });
  });

  it('takes 255 characters', async () => {
    expect(await claim('~'.repeat(255))).toBeDefined();
  });

  it('is the same for the same request, whatever the order of its members', async () => {
    expect(await claim('k', { body: { a: [2], b: 1 } })).toEqual(await claim('k'));
  });

  it.each<[string, Promise<IdempotencyRecord | undefined>]>([
    ['caller', claim('k', { caller: 'b' })],
    ['route', claim('k', { route: '/y' })],
    ['key', claim('l')],
  ])('another %s is another scope', async (_, other) => {
    expect((await other)?.scope).not.toBe((await claim('k'))?.scope);
  });

  it.each<[string, Promise<IdempotencyRecord | undefined>]>([
    ['body', claim('k', { body: { b: 2, a: [2] } })],
    ['profile', claim('k', { profile: 'pq' })],
    ['agent', claim('k', {}, 'did:svc:a')],
  ])('another %s is another request in the same scope', async (_, other) => {
    const first = await claim('k');
    expect((await other)?.requestHash).not.toBe(first?.requestHash);
    expect((await other)?.scope).toBe(first?.scope);
  });
});

describe('replayOf', () => {
  const record = { scope: 's', requestHash: 'h', expiresAt: 9 };

  it('asks in seconds and gives the earlier answer', async () => {
    const asked: unknown[] = [];
    const store = {
      findIdempotent: async (...question: unknown[]) => {
        asked.push(question);
        return { kind: 'replayed', response: '{}' } as const;
      },
    };
    expect(await replayOf(store, record, 5_999)).toMatchObject({ response: '{}' });
    expect(asked).toEqual([['s', 'h', 5]]);
  });

  it('refuses a key of another request', async () => {
    const store = { findIdempotent: async () => ({ kind: 'reused' }) as const };
    await expect(replayOf(store, record, 0)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('knows nothing of a request without a key', async () => {
    const store = { findIdempotent: () => Promise.reject(new Error('asked')) };
    expect(await replayOf(store, undefined, 0)).toBeNull();
  });
});
