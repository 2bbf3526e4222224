import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHAT, MODEL, messages, payloadsOf, type Routed, startRouted, svcIn } from './compute.ts';
import { objectsIn, SPOKEN, spokenHash } from './spoken.ts';
import type { Script } from './upstream.ts';

let routed: Routed;
beforeEach(async () => {
  routed = await startRouted({ env: { TALLY_STREAM_MAX_BYTES: '65536' } });
});
afterEach(() => routed.close());

const owed = async (): Promise<bigint> => -(await routed.balance('development')).balance;
const flood: Script = { pieces: Array.from({ length: 100 }, () => 'flood '.repeat(500)) };

describe.each(SPOKEN.map((spoken) => [spoken.name, spoken] as const))(
  '%s of more bytes than any stream may have',
  (_, spoken) => {
    it.each([{ body: {} }, { body: { svc: { retrieve: true } } }])(
      'is ended, told, billed and receipted: $body',
      async ({ body }) => {
        routed.upstream.play(flood);
        const hungUp = routed.upstream.hungUp();
        const sent = { model: MODEL, ...spoken.request, ...body, stream: true };
        const payloads = payloadsOf(await (await routed.post(spoken.path, sent)).text());
        const svc = svcIn(payloads);
        await hungUp;
        const end = spoken.brokenBy('provider_failed');
        expect(payloads.slice(0, -end.length).join('').length).toBeLessThan(100_000);
        expect(objectsIn(payloads.slice(-end.length))).toMatchObject(end);
        expect(payloads.at(-end.length)).toContain('max_tokens');
        expect(svc?.receipt).toMatchObject({
          call: { complete: false, usage_estimated: true },
          response: { hash: spokenHash(spoken, payloads) },
        });
        // One token a word, and one a space or so.
        expect(Number(svc?.receipt.call['completion_tokens'])).toBeGreaterThan(9_000);
        await routed.expectBalanced();
      },
    );

    it('costs nothing where not a chunk of it was passed on', async () => {
      routed.upstream.play({ members: { padding: 'x'.repeat(70_000) } });
      const { payloads } = await routed.stream();
      expect(payloads).toHaveLength(1);
      expect(JSON.parse(payloads[0] ?? '')).toMatchObject({ error: { code: 'provider_failed' } });
      expect(await owed()).toBe(0n);
      await routed.expectBalanced();
    });
  },
);

it('a stream that nobody began to read costs nothing, and gives back what was put aside', async () => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const body = JSON.stringify({ model: MODEL, messages, stream: true });
  const response = await routed.service.app.request(CHAT, { ...init, body });
  expect(response.status).toBe(200);
  await response.body?.cancel();
  await expect.poll(async () => (await routed.balance('development')).reserved).toBe(0n);
  expect(await owed()).toBe(0n);
});

it.each(SPOKEN.map((spoken) => [spoken.name, spoken] as const))(
  'a stream of %s that can’t be billed is told so, gives back what was put aside, and is billed later',
  async (_, spoken) => {
    const { database } = routed.service.config;
    if (database.kind !== 'sqlite') throw new Error('The service is on SQLite.');
    const file = new DatabaseSync(database.path);
    file.exec(`create trigger no_bills before insert on receipts begin select raise(abort, 'no room'); end`);
    const response = await routed.post(spoken.path, { model: MODEL, ...spoken.request, stream: true });
    const payloads = payloadsOf(await response.text());
    const [told] = spoken.brokenBy('unavailable');
    expect(objectsIn(payloads)).toContainEqual(expect.objectContaining(told));
    await expect.poll(async () => (await routed.balance('development')).reserved).toBe(0n);
    expect(await owed()).toBe(0n);
    file.exec('drop trigger no_bills');
    file.close();
    const path = `/v1/receipt/${response.headers.get('x-receipt-id')}`;
    const receipt = async () => (await routed.service.get(path)).json;
    await expect.poll(receipt).toMatchObject({
      // The end of the answer, which would have carried svc, was not sent.
      call: { complete: spoken.endsApart },
      // Of all that the client got, which has no svc.
      response: { hash: spokenHash(spoken, payloads) },
    });
    expect(await owed()).toBeGreaterThan(0n);
    await routed.expectBalanced();
  },
);
