import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { returnHoldsOfTheDead } from '../../ledger/src/process-lease.ts';
import { CHAT, MODEL, messages, type Routed, startRouted, svcOf } from './compute.ts';
import { MODELS_FILE } from './models.ts';
import { ALONE, DATABASES, type Reply, toReply } from './service.ts';
import type { Script } from './upstream.ts';

/** Of a call of `MODEL`, in nano-USDC. */
const PRICE = 6_300n;
const KEYS = 50;

/** An answer of the provider that comes when it is let go. */
function held(): { readonly script: Script; readonly letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { script: { fault: { kind: 'held', until: promise } }, letGo: resolve };
}

/** Services with nothing in common but their database, their keys and their provider, as processes are. */
describe.runIf(ALONE).each(DATABASES)('one Idempotency-Key at two services, one database, %s', (database) => {
  let one: Routed;
  let other: Routed;
  /** Does not wait long. */
  let shortTimeout: Routed;
  beforeAll(async () => {
    one = await startRouted({ database, env: { TALLY_PROCESS_LEASE_SECONDS: '30' } });
    const { database: shared, keyring, dataDir } = one.service.config;
    const env = {
      TALLY_DATA_DIR: dataDir,
      TALLY_KEYRING: keyring.path,
      ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
      OPENAI_BASE_URL: `${one.upstream.url}/v1`,
      TALLY_CONFIG: MODELS_FILE,
    };
    other = await startRouted({ env });
    shortTimeout = await startRouted({ env: { ...env, TALLY_CALL_TIMEOUT_MS: '200' } });
  });
  afterAll(async () => {
    await shortTimeout.close();
    await other.close();
    await one.close();
  });

  const spent = async () => -(await one.balance('development')).balance;
  const asked = () => one.upstream.requests.length;
  const untilAsked = (count: number) => vi.waitFor(() => expect(asked()).toBe(count), { timeout: 60_000 });
  const amountIn = (receipt: JsonObject | undefined) =>
    ((receipt ?? {})['settlement'] as JsonObject | undefined)?.['amount'];

  it('calls the provider once, is charged once and has one answer', async () => {
    const [before, calls] = [await spent(), asked()];
    const answersTo = async (key: number) => {
      const headers = { 'idempotency-key': `two-${key}` };
      const routed = key % 2 === 0 ? [one, other, one, other] : [other, one, other, one];
      return Promise.all(routed.map((routed) => routed.chat({ user: `u-${key}` }, headers)));
    };
    const answers = await Promise.all(Array.from({ length: KEYS }, (_, key) => answersTo(key)));
    for (const replies of answers) {
      for (const { status, text } of replies) expect(status, text).toBe(200);
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      expect(new Set(replies.map((reply) => reply.headers.get('x-receipt-id'))).size).toBe(1);
    }
    expect(asked()).toBe(calls + KEYS);
    expect(await spent()).toBe(before + BigInt(KEYS) * PRICE);
    await one.expectBalanced();
  });

  it('embeds once', async () => {
    const calls = asked();
    const body = { model: 'openai/text-embedding-3-small', input: 'a tally stick' };
    const replies = await Promise.all(
      [one, other].map(async (routed) =>
        toReply(await routed.post('/v1/compute/embeddings', body, { 'idempotency-key': 'embed' })),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(asked()).toBe(calls + 1);
  });

  it('streams once; the other waits and is told which receipt counts', async () => {
    const [before, calls] = [await spent(), asked()];
    const headers = { 'idempotency-key': 'two-streams' };
    const streams = await Promise.all([one, other].map((routed) => routed.stream({}, headers)));
    const [kept, refused] = streams.toSorted((a, b) => a.status - b.status);
    expect([kept?.status, refused?.status]).toEqual([200, 409]);
    expect(kept?.payloads.at(-1)).toBe('[DONE]');
    const again = await other.chat({ stream: true }, headers);
    expect(again.json).toMatchObject({ code: 'already_answered' });
    expect(again.json['detail']).toContain(kept?.svc?.receipt.receipt_id ?? '?');
    expect(asked()).toBe(calls + 1);
    expect(await spent()).toBe(before + PRICE);
    await one.expectBalanced();
  });

  it('is carried out by who waits, where the first one fails', async () => {
    const [before, calls] = [await spent(), asked()];
    one.upstream.play({ fault: { kind: 'status', status: 400 } });
    const headers = { 'idempotency-key': 'fails-first' };
    const replies = await Promise.all([one, other].map((routed) => routed.chat({}, headers)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect(asked()).toBe(calls + 2);
    expect(await spent()).toBe(before + PRICE);
  });

  it('refuses another request at once, and one that can wait no longer', async () => {
    const calls = asked();
    const headers = { 'idempotency-key': 'taken' };
    const { script, letGo } = held();
    one.upstream.play(script);
    const first = one.chat({}, headers);
    await untilAsked(calls + 1);
    for (const routed of [one, other])
      expect((await routed.chat({ user: 'another' }, headers)).json).toMatchObject({
        code: 'idempotency_key_reused',
      });
    const late = await shortTimeout.chat({}, headers);
    expect(late.status).toBe(409);
    expect(late.json).toMatchObject({ code: 'idempotency_key_in_use' });
    expect(late.headers.get('retry-after')).toMatch(/^\d+$/);
    letGo();
    const { status, text } = await first;
    expect(status).toBe(200);
    expect((await shortTimeout.chat({}, headers)).text).toBe(text);
    expect(asked()).toBe(calls + 1);
  });

  it('does not keep a client that leaves while it waits', async () => {
    const calls = asked();
    const headers = { 'idempotency-key': 'left' };
    const { script, letGo } = held();
    one.upstream.play(script);
    const first = one.chat({}, headers);
    await untilAsked(calls + 1);
    const leaving = new AbortController();
    const left = other.post(CHAT, { model: MODEL, messages }, headers, leaving.signal);
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/i);
    letGo();
    expect((await other.chat({}, headers)).text).toBe((await first).text);
    expect(asked()).toBe(calls + 1);
  });

  /** What becomes of a process that was paused for longer than its lease: others count it as dead. */
  const countAsDead = async ({ service: { services } }: Routed): Promise<void> => {
    await services.store.claims.endLease(services.lease.id);
    await returnHoldsOfTheDead(services.store, Math.floor(services.clock() / 1000));
  };

  /** Waits until the other service calls the provider, whatever the first one renews meanwhile. */
  const untilTakenOver = (calls: number): Promise<void> =>
    expect
      .poll(async () => {
        if (asked() < calls) await countAsDead(one);
        return asked();
      })
      .toBe(calls);

  it.each(['first', 'last'])(
    'is charged once where the claimant lost its claim and still ends %s',
    async (end) => {
      const [before, calls] = [await spent(), asked()];
      const headers = { 'idempotency-key': `lost-${end}` };
      const [early, late] = [held(), held()];
      one.upstream.play(early.script, late.script);
      const replies: Promise<Reply>[] = [one.chat({}, headers)];
      await untilAsked(calls + 1);
      await countAsDead(one);
      replies.push(other.chat({}, headers));
      await untilTakenOver(calls + 2);
      for (const answer of end === 'first' ? [0, 1] : [1, 0]) {
        [early, late][answer]?.letGo();
        expect((await replies[answer])?.status).toBe(200);
      }
      expect(new Set((await Promise.all(replies)).map(({ text }) => text)).size).toBe(1);
      expect(asked()).toBe(calls + 2);
      expect(await spent()).toBe(before + PRICE);
      await one.expectBalanced();
    },
  );

  it('receipts a stream whose claim was lost, and charges nothing for it', async () => {
    const [before, calls] = [await spent(), asked()];
    const headers = { 'idempotency-key': 'lost-stream' };
    const { script, letGo } = held();
    one.upstream.play(script);
    const losing = one.stream({}, headers);
    await untilAsked(calls + 1);
    await countAsDead(one);
    const keeping = other.stream({}, headers);
    await untilTakenOver(calls + 2);
    const kept = await keeping;
    letGo();
    const lost = await losing;
    expect([kept.payloads.at(-1), lost.payloads.at(-1)]).toEqual(['[DONE]', '[DONE]']);
    expect([amountIn(kept.svc?.receipt), amountIn(lost.svc?.receipt)]).toEqual(['0.0000063', '0']);
    const stored = await one.service.get(`/v1/receipt/${lost.svc?.receipt.receipt_id}`);
    expect(amountIn(stored.json)).toBe('0');
    expect(await spent()).toBe(before + PRICE);
    await one.expectBalanced();
  });

  it('gives a key that is new its own answer', async () => {
    const [first, second] = await Promise.all(
      ['a', 'b'].map((key) => one.chat({}, { 'idempotency-key': key })),
    );
    expect(svcOf(first as Reply).receipt.receipt_id).not.toBe(svcOf(second as Reply).receipt.receipt_id);
  });
});
